// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.FileGuard;
import dev.sluice.blocks.directory.InconsistentFilesException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
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
  /** Most partitions of Spark's serialized shuffle. A map output with more is not registered. */
  public static final int MAX_PARTITIONS = 1 << 24;

  private final IndexFormat format;
  private final LongBuffer index;
  private final int partitions;
  private final long dataBytes;
  private final @Nullable LongBuffer checksums;

  private MapOutputIndex(
      IndexFormat format,
      LongBuffer index,
      int partitions,
      long dataBytes,
      @Nullable LongBuffer checksums) {
    this.format = format;
    this.index = index;
    this.partitions = partitions;
    this.dataBytes = dataBytes;
    this.checksums = checksums;
  }

  /**
   * @throws InconsistentFilesException if the files cannot be those of a committed map output
   */
  public static MapOutputIndex read(MapOutputFiles.Files files) throws IOException {
    IndexFormat format = files.format();
    ByteBuffer bytes = read(files, files.index());
    LongBuffer index = bytes.asLongBuffer();
    int partitions = format.partitions(index.limit());
    if (partitions < 1) {
      throw new InconsistentFilesException(files.index() + " holds no partition");
    }
    if (!format.isIntact(bytes)) {
      throw new InconsistentFilesException(files.index() + " differs from its own checksum");
    }
    long dataBytes = format.end(index, partitions);
    if (format.offset(index, 0) != 0 || dataBytes < 0) {
      throw new InconsistentFilesException(
          files.index() + ": the partitions do not lie back to back, from 0 to 2^48 at most");
    }
    LongBuffer checksums =
        files.checksums() == null ? null : read(files, files.checksums()).asLongBuffer();
    if (checksums != null && checksums.limit() != partitions) {
      throw new InconsistentFilesException(
          "%s has checksums of %d partitions, but the index has %d partitions"
              .formatted(files.checksums(), checksums.limit(), partitions));
    }
    return new MapOutputIndex(format, index, partitions, dataBytes, checksums);
  }

  /**
   * Reads the number of bytes that the data file must have, and no more of Spark's index. Not for
   * files that may be damaged: {@link #read} checks them.
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

  /**
   * Returns the number of partitions by the index file's length, without opening the file; less
   * than 1 if no index has this length, or there is no file.
   */
  static int partitions(MapOutputFiles.Files files) {
    long bytes = files.index().toFile().length();
    return bytes % Long.BYTES == 0 && bytes <= files.format().maxBytes()
        ? files.format().partitions((int) (bytes / Long.BYTES))
        : -1;
  }

  private static ByteBuffer read(MapOutputFiles.Files files, Path file) throws IOException {
    IndexFormat format = files.format();
    try (FileGuard.Guarded guarded = files.guard().open(file);
        InputStream stream = Files.newInputStream(guarded.path())) {
      ByteBuffer bytes = ByteBuffer.wrap(stream.readNBytes(format.maxBytes() + Long.BYTES));
      checkSize(file, bytes.limit(), format);
      return bytes;
    }
  }

  private static void checkSize(Path file, int bytes, IndexFormat format)
      throws InconsistentFilesException {
    if (bytes % Long.BYTES != 0) {
      throw new InconsistentFilesException(
          file + " has " + bytes + " bytes, not a multiple of " + Long.BYTES);
    }
    if (bytes > format.maxBytes()) {
      throw new InconsistentFilesException(
          "%s has at least %d bytes, more than those of %d partitions; its map output is not registered"
              .formatted(file, bytes, format.maxPartitions()));
    }
  }

  /** Returns the number of bytes that the data file must have. */
  long dataBytes() {
    return dataBytes;
  }

  int partitions() {
    return partitions;
  }

  /** Fills in the partition table. */
  void writeTo(TableSlot table) {
    for (int i = 0; i < partitions; i++) {
      table.set(
          i,
          format.offset(index, i),
          format.length(index, i),
          checksums == null ? format.rawLength(index, i) : checksums.get(i));
    }
  }
}
