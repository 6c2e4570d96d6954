// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.table;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.rdma.transfer.BufferPool;
import dev.sluice.spark.table.LocatedBlocks.Span;
import java.util.ArrayList;
import java.util.List;

/**
 * Divides {@link LocatedBlocks} into spans, each of which is READ by one request. The fetches of
 * {@code dev.sluice.spark.fetch} call it once blocks are located, and again for staged blocks that
 * did not come. No state; any thread that may use the blocks.
 */
public final class Spans {
  /** A buffer for blocks of unknown length has this part (1/8) more, as a rest costs a request. */
  private static final int SPARE = 8;

  private Spans() {}

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
          spans.add(new Span(from, to, Math.toIntExact(bytes), false));
          bytes = 0;
        }
        from = bytes == 0 ? block : from;
        to = block + 1;
        bytes += located.length(block);
      }
    }
    if (bytes > 0) {
      spans.add(new Span(from, to, Math.toIntExact(bytes), false));
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
          spans.add(new Span(first, last, bufferBytes(bytes, known, maxBytes), true));
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
      spans.add(new Span(first, last, bufferBytes(bytes, known, maxBytes), true));
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
}
