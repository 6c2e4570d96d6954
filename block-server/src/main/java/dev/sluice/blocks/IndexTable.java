// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.MapOutput.PartitionTable;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.blocks.wire.TableSegment;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Partition table of a staged map output, read from its index and checksum files. {@link
 * ShuffleOutputs} creates it. {@link MapOutputIndex} checked these as a whole at registration, and
 * each page is checked again when it is read. The {@link IndexCache} keeps recent pages until
 * others replace them, even of a map output that is gone. Keeps no file open. Any thread, which may
 * be interrupted.
 */
final class IndexTable implements PartitionTable {
  /** Number of partitions of a page, which is the unit of reading: 2 KiB of each file. */
  static final int PAGE_PARTITIONS = 256;

  private interface Pages<E extends Exception> {
    long @Nullable [] get(int page) throws E;
  }

  private final IndexCache cache;
  private final MapOutputFiles.Files files;
  private final int partitions;
  private final long dataBytes;

  IndexTable(IndexCache cache, MapOutputFiles.Files files, MapOutputIndex index) {
    this.cache = cache;
    this.files = files;
    this.partitions = index.partitions();
    this.dataBytes = index.dataBytes();
  }

  @Override
  public MapOutputLocation location(long mapId) {
    return new MapOutputLocation(mapId, TableSegment.unregistered(partitions), 0);
  }

  @Override
  public int partitions() {
    return partitions;
  }

  /** Waits for the disk if the cache lacks a page. */
  @Override
  public long[] entries(int start, int end) throws IOException {
    return requireNonNull(entries(start, end, page -> cache.page(this, page)));
  }

  @Override
  public long @Nullable [] known(int start, int end) {
    return entries(start, end, page -> cache.known(this, page));
  }

  /** Returns null if one of the pages is null. */
  private static <E extends Exception> long @Nullable [] entries(int start, int end, Pages<E> pages)
      throws E {
    long[] entries = new long[(end - start) * TableEntry.LONGS];
    int at = start;
    while (at < end) {
      int page = at / PAGE_PARTITIONS;
      int first = page * PAGE_PARTITIONS;
      int count = Math.min(end, first + PAGE_PARTITIONS) - at;
      long[] known = pages.get(page);
      if (known == null) {
        return null;
      }
      System.arraycopy(
          known,
          (at - first) * TableEntry.LONGS,
          entries,
          (at - start) * TableEntry.LONGS,
          count * TableEntry.LONGS);
      at += count;
    }
    return entries;
  }

  /**
   * Reads a page of entries.
   *
   * @throws InconsistentFilesException if the files are gone or have changed
   * @throws IOException if they cannot be read
   */
  long[] read(int page) throws IOException {
    int first = page * PAGE_PARTITIONS;
    int count = Math.min(PAGE_PARTITIONS, partitions - first);
    LongBuffer offsets = longs(files.index(), first, count + 1, partitions + 1L);
    Path checksumFile = files.checksums();
    LongBuffer checksums =
        checksumFile == null ? null : longs(checksumFile, first, count, partitions);
    long[] entries = new long[count * TableEntry.LONGS];
    for (int i = 0; i < count; i++) {
      long offset = offsets.get(i);
      long length = offsets.get(i + 1) - offset;
      if (offset < 0 || length < 0 || length > dataBytes - offset) {
        throw new InconsistentFilesException(
            files.index() + " has changed since it was first read");
      }
      entries[i * TableEntry.LONGS] = TableEntry.first(offset, length);
      entries[i * TableEntry.LONGS + 1] =
          TableEntry.second(length, checksums == null ? 0 : checksums.get(i));
    }
    return entries;
  }

  /** Reads longs of a file. Uses no channel: an interrupt of the reading thread would close it. */
  private static LongBuffer longs(Path path, int first, int count, long all) throws IOException {
    byte[] bytes = new byte[count * Long.BYTES];
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
      if (file.length() != all * Long.BYTES) {
        throw new InconsistentFilesException(path + " has changed since it was first read");
      }
      file.seek((long) first * Long.BYTES);
      file.readFully(bytes);
    } catch (FileNotFoundException e) { // Also if no descriptor is left.
      if (Files.notExists(path)) {
        throw new InconsistentFilesException(path + " no longer exists");
      }
      throw e;
    } catch (EOFException e) {
      throw new InconsistentFilesException(path + " has changed since it was first read");
    }
    return ByteBuffer.wrap(bytes).asLongBuffer();
  }

  @Override
  public List<Path> files() {
    return files.checksums() == null
        ? List.of(files.index())
        : List.of(files.index(), files.checksums());
  }
}
