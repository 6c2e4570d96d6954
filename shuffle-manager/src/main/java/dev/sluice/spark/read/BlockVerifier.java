package dev.sluice.spark.read;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.spark.table.LocatedBlocks;
import java.nio.ByteBuffer;
import java.util.zip.Checksum;

/**
 * Verifies blocks, one after the other, against the checksums that Spark's writer took of each
 * partition. Used by one thread at a time.
 */
final class BlockVerifier {
  private final LocatedBlocks blocks;
  private final boolean enabled;
  private ChecksumAlgorithm algorithm = ChecksumAlgorithm.NONE;
  private Checksum checksum;
  private int block;
  private int partition;
  private long left;
  private boolean mismatch;

  /**
   * @param enabled false to accept any bytes, but for those that were staged
   */
  BlockVerifier(LocatedBlocks blocks, boolean enabled) {
    this.blocks = blocks;
    this.enabled = enabled;
  }

  /** The bytes that follow are a block's. */
  void begin(int next) {
    block = next;
    partition = 0;
    mismatch = false;
    left = blocks.length(block, 0);
    if (!blocks.hasChecksums(block) || !(enabled || blocks.isStaged(block))) {
      checksum = null;
      algorithm = ChecksumAlgorithm.NONE;
    } else if (algorithm == blocks.algorithm(block)) {
      checksum.reset();
    } else {
      algorithm = blocks.algorithm(block);
      checksum = algorithm.newChecksum();
    }
  }

  /** Takes the block's next bytes, all that remain, which are native memory or an array. */
  void update(ByteBuffer bytes) {
    if (checksum == null) {
      return;
    }
    int end = bytes.limit();
    while (bytes.position() < end) {
      int count = (int) Math.min(end - bytes.position(), left);
      checksum.update(bytes.limit(bytes.position() + count));
      left -= count;
      if (left == 0) {
        finishPartition();
      }
    }
  }

  /** Once all bytes were given: whether they are the ones that were written. */
  boolean matches() {
    return checksum == null || (!mismatch && partition == blocks.partitions(block));
  }

  /** Empty partitions are passed over: their checksum says nothing. */
  private void finishPartition() {
    mismatch |=
        blocks.length(block, partition) > 0
            && checksum.getValue() != blocks.checksum(block, partition);
    checksum.reset();
    do {
      partition++;
    } while (partition < blocks.partitions(block) && blocks.length(block, partition) == 0);
    left = partition < blocks.partitions(block) ? blocks.length(block, partition) : 0;
  }
}
