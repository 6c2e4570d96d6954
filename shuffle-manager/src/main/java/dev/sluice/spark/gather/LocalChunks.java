package dev.sluice.spark.gather;

import dev.sluice.blocks.MapOutputReader;
import dev.sluice.blocks.MapOutputRegistry;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Queue;

/**
 * Chunks of this executor's own map outputs. They are copied from registered memory when the task
 * asks for them. {@link GatheredBlocks} uses it on the task's thread. Nothing to close, as chunks
 * are heap.
 */
final class LocalChunks {
  /**
   * Largest mean size of members that are copied. A block costs Spark's iterator some 20 us, in
   * which a core copies and verifies several times as many bytes. Larger members are streamed in
   * place, without a copy.
   */
  private static final long MAX_MEAN_BYTES = 64 << 10;

  /** Half of G1's smallest region. A larger array would be a humongous object. */
  private static final int MAX_CHUNK_BYTES = 256 << 10;

  /** Bounds the number of a task's chunks if estimates are far too small. */
  private static final int MIN_CHUNK_BYTES = 16 << 10;

  /** Initial room for members: a chunk may have few of a group's members. */
  private static final int FIRST_MEMBERS = 256;

  /**
   * A group that is being read.
   *
   * @param reader reader of its shuffle
   */
  private record Source(BlockGroup group, MapOutputReader reader) {}

  private final MapOutputRegistry registry;
  private final Queue<Source> sources = new ArrayDeque<>();

  /** Next member of the first source. */
  private int member;

  LocalChunks(MapOutputRegistry registry) {
    this.registry = registry;
  }

  /**
   * Takes a group of this executor.
   *
   * @return false if its members are large, or if nothing of its shuffle is registered
   */
  boolean start(BlockGroup group) {
    if (group.meanBytes() > MAX_MEAN_BYTES) {
      return false;
    }
    MapOutputReader reader = registry.reader(group.shuffleId());
    return reader != null && sources.add(new Source(group, reader));
  }

  /** Returns the next chunk; null at the end. Leaves members to Spark that cannot be copied. */
  Chunk next() {
    for (Source source = sources.peek(); source != null; source = sources.peek()) {
      Chunk chunk = copy(source.group(), source.reader());
      if (chunk != null) {
        registry.touch(source.group().shuffleId());
        return chunk;
      }
      sources.remove();
      member = 0;
    }
    return null;
  }

  /** Copies a chunk from the current member on. Returns null if the group has no more to copy. */
  private Chunk copy(BlockGroup group, MapOutputReader reader) {
    int first = member;
    int[] ends = new int[Math.min(group.size() - first, FIRST_MEMBERS)];
    byte[] target = first < group.size() ? new byte[chunkBytes(group)] : null;
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
        : new Chunk(
            group,
            first,
            Arrays.copyOf(ends, member - first),
            MemorySegment.ofArray(target),
            Chunk.Way.LOCAL,
            _ -> {});
  }

  private static int[] withRoom(int[] ends, int index) {
    return index < ends.length ? ends : Arrays.copyOf(ends, 2 * ends.length);
  }

  /** Returns the size of a chunk in bytes. Estimates are up to a tenth too small. */
  private static int chunkBytes(BlockGroup group) {
    return Math.clamp(group.estimatedBytes() * 9 / 8, MIN_CHUNK_BYTES, MAX_CHUNK_BYTES);
  }
}
