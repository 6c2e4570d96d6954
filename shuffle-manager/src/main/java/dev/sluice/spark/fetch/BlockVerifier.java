// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.table.Span;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Verifies blocks, one after the other, against the checksums that Spark's writer computed for each
 * partition. {@link #mismatches} verifies a batch, on a delivery thread or the task's. A {@link
 * BlockSink} has one: first {@link #begin}, then {@link #update} with all bytes of the block, then
 * {@link #matches}. One thread at a time.
 */
final class BlockVerifier {
  private static final Logger LOG = LoggerFactory.getLogger(BlockVerifier.class);

  private final LocatedBlocks blocks;

  /** False to accept any bytes, except those of staged blocks. */
  private final boolean enabled;

  private ChecksumAlgorithm algorithm = ChecksumAlgorithm.NONE;

  /** Null while the current block is not verified. */
  private @Nullable Checksum checksum;

  private int block;
  private int partition;

  /** Bytes of the partition that are still to come. */
  private long left;

  private boolean mismatch;

  BlockVerifier(FetchContext path, LocatedBlocks blocks) {
    this.blocks = blocks;
    this.enabled = path.options().verifyChecksums();
  }

  /**
   * Verifies the blocks of a span. Counts and logs the blocks with wrong bytes.
   *
   * @param bytes the blocks that are there, back to back
   * @return the blocks with wrong bytes
   */
  static BitSet mismatches(FetchContext path, Span there, MemorySegment bytes) {
    LocatedBlocks located = there.located();
    BitSet wrong = new BitSet();
    BlockVerifier verifier = new BlockVerifier(path, located);
    ByteBuffer buffer = bytes.asByteBuffer();
    int start = 0;
    int[] ends = there.ends();
    for (int i = 0; i < ends.length; i++) {
      int block = there.from() + i;
      if (ends[i] > start) {
        verifier.begin(block);
        verifier.update(buffer.limit(ends[i]).position(start));
        if (!verifier.matches()) {
          wrong.set(block);
          LOG.warn(
              "Block {} READ from {} does not match the checksum it was written with",
              located.blocks().name(block),
              located.peer());
        }
        start = ends[i];
      }
    }
    path.counters().add(ShuffleCounter.CORRUPTIONS, wrong.cardinality());
    return wrong;
  }

  /** Starts a block. The bytes that follow belong to it. */
  void begin(int next) {
    block = next;
    partition = 0;
    mismatch = false;
    left = blocks.length(block, 0);
    if (!blocks.hasChecksums(block) || !(enabled || blocks.isStaged(block))) {
      checksum = null;
      algorithm = ChecksumAlgorithm.NONE;
    } else if (checksum != null && algorithm == blocks.algorithm(block)) {
      checksum.reset();
    } else {
      algorithm = blocks.algorithm(block);
      checksum = algorithm.newChecksum();
    }
  }

  /** Takes the next bytes of the block: the rest of a buffer in native memory or an array. */
  void update(ByteBuffer bytes) {
    Checksum used = checksum;
    if (used == null) {
      return;
    }
    int end = bytes.limit();
    while (bytes.position() < end) {
      int count = (int) Math.min(end - bytes.position(), left);
      used.update(bytes.limit(bytes.position() + count));
      left -= count;
      if (left == 0) {
        finishPartition(used);
      }
    }
  }

  /** Returns true if the bytes are those that were written. Call it after the block's last byte. */
  boolean matches() {
    return checksum == null || (!mismatch && partition == blocks.partitions(block));
  }

  /** Moves on to the next partition with bytes. An empty partition's checksum means nothing. */
  private void finishPartition(Checksum used) {
    mismatch |=
        blocks.length(block, partition) > 0 && used.getValue() != blocks.checksum(block, partition);
    used.reset();
    do {
      partition++;
    } while (partition < blocks.partitions(block) && blocks.length(block, partition) == 0);
    left = partition < blocks.partitions(block) ? blocks.length(block, partition) : 0;
  }
}
