package dev.sluice.spark.read;

import dev.sluice.blocks.ChecksumAlgorithm;
import java.lang.foreign.MemorySegment;
import java.util.zip.Checksum;

/**
 * Verifies a block's bytes, which come in order, against the checksums that Spark's writer took of
 * each partition. Used by one thread at a time.
 */
final class PartitionVerifier {
  private final LocatedBlock located;
  private final Checksum checksum;
  private long position;
  private int partition;
  private boolean mismatch;

  /**
   * @param enabled false to accept any bytes
   */
  PartitionVerifier(LocatedBlock located, boolean enabled) {
    this.located = located;
    this.position = located.offset();
    ChecksumAlgorithm algorithm = located.location().checksumAlgorithm();
    this.checksum = enabled && algorithm != ChecksumAlgorithm.NONE ? algorithm.newChecksum() : null;
  }

  /** Takes the block's next bytes, which are native memory: checksums go straight over it. */
  void update(MemorySegment bytes) {
    if (checksum == null) {
      return;
    }
    long done = 0;
    while (done < bytes.byteSize()) {
      long end = located.offsets()[partition + 1];
      long count = Math.min(bytes.byteSize() - done, end - position);
      checksum.update(bytes.asSlice(done, count).asByteBuffer());
      done += count;
      position += count;
      if (position == end) {
        finishPartition();
      }
    }
  }

  /** Once all bytes were given: whether they are the ones that were written. */
  boolean matches() {
    return !mismatch && (checksum == null || position == located.end());
  }

  /** Empty partitions are passed over: their checksum says nothing. */
  private void finishPartition() {
    boolean empty = located.offsets()[partition] == located.offsets()[partition + 1];
    mismatch |= !empty && checksum.getValue() != located.checksums()[partition];
    checksum.reset();
    partition++;
  }
}
