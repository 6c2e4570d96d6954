// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.table;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.BufferPool;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Blocks in [from, to) of {@link LocatedBlocks} that are READ together by one request: those that
 * the peer stages, or the registered ones. A span of one block has that block in any case. The
 * fetches of {@code dev.sluice.spark.fetch} divide blocks into spans once they are located, and
 * again staged blocks that did not come. Immutable; any thread that may use the blocks.
 *
 * @param bytes of the blocks; of the buffer for staged ones, as long as they are not there
 */
public record Span(LocatedBlocks located, int from, int to, int bytes, boolean isStaged) {
  /** A buffer for blocks of unknown length has this part (1/8) more, as a rest costs a request. */
  private static final int SPARE = 8;

  /** Returns a span of one block whose length is known. */
  public static Span of(LocatedBlocks located, int block) {
    int bytes = Math.toIntExact(located.length(block));
    return new Span(located, block, block + 1, bytes, located.isStaged(block));
  }

  /**
   * Divides the registered blocks that are not left out into spans. A span has at most the given
   * bytes and 4,096 blocks, or it is a single block.
   *
   * @param apart true if all blocks of a span must belong to one map output, so that a map output
   *     that cannot be READ fails no block of another
   */
  public static List<Span> registered(LocatedBlocks located, int maxBytes, boolean apart) {
    List<Span> spans = new ArrayList<>();
    int from = 0;
    int to = 0;
    long bytes = 0;
    for (int block = 0; block < located.blocks().size(); block++) {
      if (located.isRead(block) && !located.isStaged(block)) {
        boolean fits =
            (!apart || located.location(block) == located.location(from))
                && bytes + located.length(block) <= maxBytes
                && block - from < ControlMessages.MAX_BLOCKS;
        if (bytes > 0 && !fits) {
          spans.add(new Span(located, from, to, Math.toIntExact(bytes), false));
          bytes = 0;
        }
        from = bytes == 0 ? block : from;
        to = block + 1;
        bytes += located.length(block);
      }
    }
    if (bytes > 0) {
      spans.add(new Span(located, from, to, Math.toIntExact(bytes), false));
    }
    return spans;
  }

  /**
   * Divides blocks in [from, to) that have to be staged into spans. A span has at most the given
   * bytes, and the blocks and partitions that a request may have, or it is a single block. Blocks
   * of unknown length count by the mean. Where that is not known either, each span has a buffer of
   * all the bytes.
   *
   * @param maxBlockBytes limit of the buffer for a single block of unknown length
   */
  public static List<Span> staged(
      LocatedBlocks located, int from, int to, int maxBytes, int maxBlockBytes) {
    List<Span> spans = new ArrayList<>();
    long estimate = located.blocks().meanBytes();
    long mean = Math.min(estimate + estimate / SPARE, maxBlockBytes);
    int first = from;
    int last = from;
    long partitions = 0;
    long bytes = 0;
    boolean known = true;
    for (int block = from; block < to; block++) {
      if (located.isRead(block) && located.isStaged(block)) {
        long length = located.isKnown(block) ? located.length(block) : mean;
        boolean fits =
            bytes + length <= maxBytes
                && block - first < ControlMessages.MAX_BLOCKS
                && partitions + located.partitions(block) <= ControlMessages.MAX_ENTRIES;
        if (partitions > 0 && !fits) {
          spans.add(new Span(located, first, last, bufferBytes(bytes, known, maxBytes), true));
          partitions = 0;
          bytes = 0;
          known = true;
        }
        first = partitions == 0 ? block : first;
        last = block + 1;
        partitions += located.partitions(block);
        bytes += length;
        known &= located.isKnown(block);
      }
    }
    if (partitions > 0) {
      spans.add(new Span(located, first, last, bufferBytes(bytes, known, maxBytes), true));
    }
    return spans;
  }

  /** A buffer takes whole pages of the pool, so an estimate may as well. */
  private static int bufferBytes(long bytes, boolean known, int maxBytes) {
    if (known) {
      return Math.toIntExact(bytes);
    }
    long room = bytes == 0 ? maxBytes : BufferPool.roomBytes((int) bytes);
    return (int) Math.max(bytes, Math.min(room, maxBytes));
  }

  /** Returns true if it has one block, whose bytes may come in several parts. */
  public boolean isSingle() {
    return to - from == 1;
  }

  /** Returns true if the block is one of those that are not left out, failed or not. */
  public boolean isIn(int block) {
    return isSingle() || (!located.isLeftOut(block) && located.isStaged(block) == isStaged);
  }

  private boolean isReadIn(int block) {
    return located.failure(block) == null && isIn(block);
  }

  /** Returns the blocks that have not failed. */
  public BitSet read() {
    BitSet read = new BitSet();
    for (int block = from; block < to; block++) {
      read.set(block, isReadIn(block));
    }
    return read;
  }

  /** Returns all blocks, also those that turned out to have failed. */
  public BitSet all() {
    BitSet all = new BitSet();
    for (int block = from; block < to; block++) {
      all.set(block, isIn(block));
    }
    return all;
  }

  /** Returns the end of each block in a buffer with the blocks one after the other. */
  public int[] ends() {
    int[] ends = new int[to - from];
    int end = 0;
    for (int block = from; block < to; block++) {
      end += isReadIn(block) ? (int) located.length(block) : 0;
      ends[block - from] = end;
    }
    return ends;
  }

  /**
   * Returns the regions of registered blocks, in their order; adjoining blocks are one region.
   *
   * @param position bytes of a single block that are left out
   * @param length bytes of a single block
   */
  public List<RemoteRegion> regions(long position, int length) {
    if (isSingle()) {
      return List.of(located.region(from, position, length));
    }
    List<RemoteRegion> regions = new ArrayList<>();
    int before = from;
    for (int block = from; block < to; block++) {
      if (isReadIn(block)) {
        RemoteRegion next = located.region(block, 0, located.length(block));
        if (!regions.isEmpty()
            && located.areOfSameOutput(before, block)
            && end(regions.getLast()) == next.address()) {
          RemoteRegion last = regions.removeLast();
          next = new RemoteRegion(last.address(), last.length() + next.length(), last.rkey());
        }
        regions.add(next);
        before = block;
      }
    }
    return regions;
  }

  private static long end(RemoteRegion region) {
    return region.address() + region.length();
  }

  /** Returns what to ask the peer for to have the blocks staged. */
  public List<Partitions> wanted() {
    List<Partitions> wanted = new ArrayList<>();
    for (int block = from; block < to; block++) {
      if (isReadIn(block)) {
        wanted.add(located.wanted(block));
      }
    }
    return wanted;
  }

  /**
   * Takes lengths and checksums of the blocks from the peer's answer. Blocks that the peer cannot
   * stage fail.
   *
   * @param asked the request, for all that is {@link #wanted}
   * @return the blocks up to the first one that is not in the copy, with the bytes of the copy;
   *     null if the answer does not fit the request
   */
  public @Nullable Span take(Stage asked, Staged answer) {
    long copied = answer.region().length();
    if (answer.tables().size() != asked.wanted().size() || copied > asked.maxBytes()) {
      return null;
    }
    long left = copied;
    int end = from;
    int next = 0;
    boolean fits = true;
    for (int block = from; block < to; block++) {
      if (isReadIn(block)) {
        located.take(block, answer.tables().get(next++));
        boolean isStageable = located.failure(block) == null;
        long length = isStageable ? located.length(block) - asked.position() : 0;
        long part = isSingle() ? Math.min(length, left) : length;
        if (fits && part > left) {
          fits = false;
          if (copied == 0 && length <= asked.maxBytes()) {
            return null;
          }
        }
        left -= fits ? part : 0;
      }
      end = fits ? block + 1 : end;
    }
    boolean isPart = left == 0 && (copied > 0 || !isSingle() || located.failure(from) != null);
    return isPart ? new Span(located, from, end, (int) copied, true) : null;
  }
}
