// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.InconsistentFilesException;
import dev.sluice.blocks.wire.TableEntry;
import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A map output's index and checksum files, read and checked, to be written to a {@link TableSlot}.
 * Lives for one registration, on one thread at a time: 160 KB of garbage for 10,000 partitions. A
 * hand-over to a node daemon reads no more than its last offset, on either side.
 */
public final class MapOutputIndex {
  /** Above the limit of Spark's serialized shuffle. A larger index is not read into memory. */
  private static final int MAX_PARTITIONS = 1 << 24;

  private final LongBuffer offsets;
  private final @Nullable LongBuffer checksums;

  private MapOutputIndex(LongBuffer offsets, @Nullable LongBuffer checksums) {
    this.offsets = offsets;
    this.checksums = checksums;
  }

  /**
   * @throws InconsistentFilesException if the files cannot be those of a committed map output
   */
  public static MapOutputIndex read(MapOutputFiles.Files files) throws IOException {
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
    if (offsets.get(offsets.limit() - 1) >= TableEntry.LIMIT) {
      throw new InconsistentFilesException(files.index() + " describes 2^48 bytes of data or more");
    }
    LongBuffer checksums = files.checksums() == null ? null : readLongs(files.checksums());
    if (checksums != null && checksums.limit() != offsets.limit() - 1) {
      throw new InconsistentFilesException(
          "%s has checksums of %d partitions, but the index has %d partitions"
              .formatted(files.checksums(), checksums.limit(), offsets.limit() - 1));
    }
    return new MapOutputIndex(offsets, checksums);
  }

  /**
   * Reads the number of bytes that the data file must have, and no more of the index. Not for files
   * that may be damaged: {@link #read} checks them.
   */
  public static long dataBytes(MapOutputFiles.Files files) throws IOException {
    try (RandomAccessFile index = new RandomAccessFile(files.index().toFile(), "r")) {
      long last = index.length() - Long.BYTES;
      if (last > 0) {
        index.seek(last);
      }
      return index.readLong();
    } catch (EOFException e) {
      throw new InconsistentFilesException(files.index() + " has no offset");
    }
  }

  private static LongBuffer readLongs(Path file) throws IOException {
    long bytes = Files.size(file);
    if (bytes % Long.BYTES != 0) {
      throw new InconsistentFilesException(
          file + " has " + bytes + " bytes, not a multiple of " + Long.BYTES);
    }
    if (bytes > (MAX_PARTITIONS + 1L) * Long.BYTES) {
      throw new InconsistentFilesException(
          file + " has " + bytes + " bytes, more than " + MAX_PARTITIONS + " partitions need");
    }
    return ByteBuffer.wrap(Files.readAllBytes(file)).asLongBuffer();
  }

  /** Returns the number of bytes that the data file must have. */
  long dataBytes() {
    return offsets.get(offsets.limit() - 1);
  }

  int partitions() {
    return offsets.limit() - 1;
  }

  boolean hasChecksums() {
    return checksums != null;
  }

  /** Fills in the partition table. */
  void writeTo(TableSlot table) {
    for (int i = 0; i < partitions(); i++) {
      long offset = offsets.get(i);
      table.set(i, offset, offsets.get(i + 1) - offset, checksums == null ? 0 : checksums.get(i));
    }
  }
}
