package dev.sluice.blocks;

import dev.sluice.blocks.wire.PartitionTable;
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
 * PartitionTable}. Lives on the registering thread for one registration: 320 KB of garbage for
 * 10,000 partitions.
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
    if (bytes % Long.BYTES != 0) {
      throw new InconsistentFilesException(file + " has " + bytes + " bytes, which are no longs");
    }
    if (bytes > (MAX_PARTITIONS + 1L) * Long.BYTES) {
      throw new InconsistentFilesException(
          file + " has " + bytes + " bytes, more than for " + MAX_PARTITIONS + " partitions");
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
   * One bulk copy, because 20,000 checked stores into a shared arena's memory take ten times as
   * long.
   */
  void writeTo(MemorySegment table) {
    long[] entries = new long[2 * offsets.limit()];
    for (int i = 0; i < offsets.limit(); i++) {
      entries[2 * i] = offsets.get(i);
    }
    for (int i = 0; checksums != null && i < checksums.limit(); i++) {
      entries[2 * i + 1] = checksums.get(i);
    }
    MemorySegment.copy(entries, 0, table, LITTLE_ENDIAN, 0, entries.length);
  }

  /** A partition's offset in the data file, from a table that {@link #writeTo} filled in. */
  static long offset(MemorySegment table, int partition) {
    return table.get(LITTLE_ENDIAN, (long) partition * PartitionTable.ENTRY_BYTES);
  }

  /** The checksum of a partition's bytes, from such a table. */
  static long checksum(MemorySegment table, int partition) {
    long entry = (long) partition * PartitionTable.ENTRY_BYTES;
    return table.get(LITTLE_ENDIAN, entry + PartitionTable.CHECKSUM_OFFSET);
  }
}
