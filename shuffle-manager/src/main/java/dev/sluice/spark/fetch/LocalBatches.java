// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.blocks.registry.MapOutputReader;
import dev.sluice.blocks.registry.MapOutputRegistry;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Batches of this executor's own map outputs. They are copied from registered memory when the task
 * asks for them. Each {@link RdmaBlockFetcherIterator} has one, and uses it on the task's thread.
 * Nothing to close, as batches are heap.
 */
final class LocalBatches {
  /**
   * Largest mean size of members that are copied. A block costs Spark's iterator some 20 us, in
   * which a core copies and verifies several times as many bytes. Larger members are streamed in
   * place, without a copy.
   */
  private static final long MAX_MEAN_BYTES = 64 << 10;

  /** Half of G1's smallest region. A larger array would be a humongous object. */
  private static final int MAX_BATCH_BYTES = 256 << 10;

  /** Bounds the number of a task's batches if estimates are far too small. */
  private static final int MIN_BATCH_BYTES = 16 << 10;

  /** Initial room for members: a batch may have few of a group's members. */
  private static final int FIRST_MEMBERS = 256;

  /**
   * A group that is being read.
   *
   * @param reader reader of its shuffle
   */
  private record Source(ExecutorBlocks group, MapOutputReader reader) {}

  private final MapOutputRegistry registry;
  private final Queue<Source> sources = new ArrayDeque<>();

  /** Next member of the first source. */
  private int member;

  LocalBatches(MapOutputRegistry registry) {
    this.registry = registry;
  }

  /**
   * Takes a group of this executor.
   *
   * @return false if its members are large, or if nothing of its shuffle is registered
   */
  boolean start(ExecutorBlocks group) {
    if (group.meanBytes() > MAX_MEAN_BYTES) {
      return false;
    }
    MapOutputReader reader = registry.reader(group.shuffleId());
    return reader != null && sources.add(new Source(group, reader));
  }

  /** Returns the next batch; null at the end. Leaves members to Spark that cannot be copied. */
  @Nullable FetchedBatch next() {
    for (Source source = sources.peek(); source != null; source = sources.peek()) {
      FetchedBatch batch = copy(source.group(), source.reader());
      if (batch != null) {
        registry.touch(source.group().shuffleId());
        return batch;
      }
      sources.remove();
      member = 0;
    }
    return null;
  }

  /** Copies a batch from the current member on. Returns null if the group has no more to copy. */
  private @Nullable FetchedBatch copy(ExecutorBlocks group, MapOutputReader reader) {
    if (member == group.size()) {
      return null;
    }
    int first = member;
    int[] ends = new int[Math.min(group.size() - first, FIRST_MEMBERS)];
    byte[] target = new byte[batchBytes(group)];
    int bytes = 0;
    while (member < group.size()) {
      int copied =
          reader.copy(
              group.mapId(member),
              group.startPartition(member),
              group.endPartition(member),
              target,
              bytes);
      if (copied == MapOutputReader.NO_ROOM) {
        break;
      }
      if (copied > 0) {
        bytes += copied;
      } else {
        // An empty block is an error to Spark, so Spark's iterator has to report it.
        BitSet one = new BitSet();
        one.set(member);
        group.leave(one);
      }
      ends = withRoom(ends, member - first);
      ends[member - first] = bytes;
      member++;
    }
    return bytes == 0
        ? null
        : new FetchedBatch(
            group,
            first,
            Arrays.copyOf(ends, member - first),
            MemorySegment.ofArray(target),
            FetchedBatch.Way.LOCAL,
            _ -> {});
  }

  private static int[] withRoom(int[] ends, int index) {
    return index < ends.length ? ends : Arrays.copyOf(ends, 2 * ends.length);
  }

  /** Returns the size of a batch in bytes. Estimates are up to a tenth too small. */
  private static int batchBytes(ExecutorBlocks group) {
    return Math.clamp(group.estimatedBytes() * 9 / 8, MIN_BATCH_BYTES, MAX_BATCH_BYTES);
  }
}
