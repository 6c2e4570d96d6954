package dev.sluice.blocks;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A map output's index and checksum files, read and checked, on their way into a {@link
 * PartitionTable}. Lives on the registering thread for one registration: 80 KB of garbage for
 * 10,000 partitions, twice that with checksums.
 */
final class MapOutputIndex {
  /** More than Spark's serialized shuffle allows; an index beyond it is not read into memory. */
  private static final int MAX_PARTITIONS = 1 << 24;

  private static final ValueLayout.OfLong LITTLE_ENDIAN =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final LongBuffer offsets;
  private final LongBuffer checksums;

  private MapOutputIndex(LongBuffer offsets, LongBuffer checksums) {
    this.offsets = offsets;
    this.checksums = checksums;
  }

  /**
   * @throws InconsistentFilesException when the files cannot be what a committed map output has
   */
  static MapOutputIndex read(MapOutputFiles.Files files) throws IOException {
    LongBuffer offsets = readLongs(files.index());
    if (offsets.limit() < 2) {
      throw new InconsistentFilesException(files.index() + " holds no partition");
    }
    if (offsets.get(0) != 0) {
      throw new InconsistentFilesException(files.index() + " starts at offset " + offsets.get(0));
    }
    for (int i = 1; i < offsets.limit(); i++) {
      if (offsets.get(i) < offsets.get(i - 1)) {
        throw new InconsistentFilesException(
            files.index() + ": partition " + (i - 1) + " ends before it starts");
      }
    }
    LongBuffer checksums = files.checksums() == null ? null : readLongs(files.checksums());
    if (checksums != null && checksums.limit() != offsets.limit() - 1) {
      throw new InconsistentFilesException(
          "%s has checksums of %d partitions, the index has %d"
              .formatted(files.checksums(), checksums.limit(), offsets.limit() - 1));
    }
    return new MapOutputIndex(offsets, checksums);
  }

  private static LongBuffer readLongs(Path file) throws IOException {
    long bytes = Files.size(file);
    if (bytes % Long.BYTES != 0 || bytes > (MAX_PARTITIONS + 1L) * Long.BYTES) {
      throw new InconsistentFilesException(file + " has " + bytes + " bytes");
    }
    return ByteBuffer.wrap(Files.readAllBytes(file)).asLongBuffer();
  }

  /** Bytes that the data file must have. */
  long dataBytes() {
    return offsets.get(offsets.limit() - 1);
  }

  /** Bytes of the partition table. */
  long tableBytes() {
    return (long) offsets.limit() * PartitionTable.ENTRY_BYTES;
  }

  boolean hasChecksums() {
    return checksums != null;
  }

  /**
   * Fills in the partition table; the last entry, which ends the last partition, has checksum 0.
   */
  void writeTo(MemorySegment table) {
    for (int i = 0; i < offsets.limit(); i++) {
      long entry = (long) i * PartitionTable.ENTRY_BYTES;
      table.set(LITTLE_ENDIAN, entry, offsets.get(i));
      boolean checked = checksums != null && i < checksums.limit();
      table.set(
          LITTLE_ENDIAN, entry + PartitionTable.CHECKSUM_OFFSET, checked ? checksums.get(i) : 0);
    }
  }

  /** A partition's offset in the data file, from a table that {@link #writeTo} filled in. */
  static long offset(MemorySegment table, int partition) {
    return table.get(LITTLE_ENDIAN, (long) partition * PartitionTable.ENTRY_BYTES);
  }
}
