// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.FileGuard;
import dev.sluice.blocks.directory.InconsistentFilesException;
import dev.sluice.blocks.wire.TableEntry;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Reads entries of an {@link IndexTable} from its files, in whole pages. Spark may put index and
 * checksums on different disks, so each file can be read on a thread of its own, which may be
 * interrupted. Each file is read once. The thread that reads the last one gets the entries. Keeps
 * no file open.
 */
public final class TableReading {
  private final IndexTable table;
  private final MapOutputFiles.Files files;
  private final int start;
  private final int end;

  /** First partition of the first page, and the number of partitions in all pages. */
  private final int first;

  private final int count;

  /** Number of files that have not been read. */
  private final AtomicInteger unread = new AtomicInteger(2);

  // Each is set before its file counts as read.
  private LongBuffer index = LongBuffer.allocate(0);

  /** Null if the map output has no checksums. */
  private @Nullable LongBuffer checksums;

  /** Reads partitions [start, end), which must exist. */
  TableReading(IndexTable table, MapOutputFiles.Files files, int start, int end) {
    this.table = table;
    this.files = files;
    this.start = start;
    this.end = end;
    first = start - start % IndexTable.PAGE_PARTITIONS;
    int pages = Math.ceilDiv(end - first, IndexTable.PAGE_PARTITIONS);
    count = Math.min(table.partitions() - first, pages * IndexTable.PAGE_PARTITIONS);
  }

  /**
   * Reads the index file.
   *
   * @return the {@link TableEntry}s, whose pages are cached; null if the checksums have not been
   *     read
   * @throws InconsistentFilesException if a file is gone or has changed
   * @throws IOException if the file cannot be read
   */
  public long @Nullable [] readIndex() throws IOException {
    IndexFormat format = files.format();
    index =
        longs(
            files.index(),
            format.position(first),
            format.longs(count),
            format.longs(table.partitions()));
    return wasRead();
  }

  /**
   * Reads the checksum file, if the map output has one. Returns and throws as {@link #readIndex}.
   */
  public long @Nullable [] readChecksums() throws IOException {
    Path file = files.checksums();
    checksums =
        file == null ? null : longs(file, (long) first * Long.BYTES, count, table.partitions());
    return wasRead();
  }

  private long @Nullable [] wasRead() throws InconsistentFilesException {
    return unread.decrementAndGet() == 0 ? entries() : null;
  }

  /** Reads longs of a file. Uses no channel: an interrupt of the reading thread would close it. */
  private LongBuffer longs(Path path, long position, int wanted, long all) throws IOException {
    byte[] bytes = new byte[wanted * Long.BYTES];
    try (FileGuard.Guarded guarded = files.guard().open(path);
        RandomAccessFile file = new RandomAccessFile(guarded.path().toFile(), "r")) {
      if (file.length() != all * Long.BYTES) {
        throw hasChanged(path);
      }
      file.seek(position);
      file.readFully(bytes);
    } catch (FileNotFoundException | NoSuchFileException e) { // Also if no descriptor is left.
      if (Files.notExists(path)) {
        throw new InconsistentFilesException(path + " no longer exists");
      }
      throw e;
    } catch (EOFException e) {
      throw hasChanged(path);
    }
    return ByteBuffer.wrap(bytes).asLongBuffer();
  }

  private static InconsistentFilesException hasChanged(Path path) {
    return new InconsistentFilesException(path + " does not fit its map output, or has changed");
  }

  private long[] entries() throws InconsistentFilesException {
    IndexFormat format = files.format();
    long endOffset = format.end(index, count);
    if (endOffset < 0 || endOffset > table.dataBytes()) {
      throw hasChanged(files.index());
    }
    long[] entries = new long[count * TableEntry.LONGS];
    for (int i = 0; i < count; i++) {
      long length = format.length(index, i);
      entries[i * TableEntry.LONGS] = TableEntry.first(format.offset(index, i), length);
      entries[i * TableEntry.LONGS + 1] =
          TableEntry.second(
              length, checksums == null ? format.rawLength(index, i) : checksums.get(i));
    }
    return table.kept(first, entries, start, end);
  }
}
