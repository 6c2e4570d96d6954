package dev.sluice.blocks;

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

/**
 * The partition table of a map output that is staged: in its index and checksum files, which were
 * checked as a whole when it was registered ({@link MapOutputIndex}), and of which the process's
 * {@link IndexCache} has what was read lately: also of one that is gone, until others come. Holds
 * nothing open.
 */
final class IndexTable implements PartitionTable {
  /** What is read at a time: 2 KiB of each file. */
  static final int PAGE_PARTITIONS = 256;

  private interface Pages<E extends Exception> {
    long[] get(int page) throws E;
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

  /** Blocks as its disk does where the cache lacks something. */
  @Override
  public long[] entries(int start, int end) throws IOException {
    return entries(start, end, page -> cache.page(this, page));
  }

  @Override
  public long[] known(int start, int end) {
    return entries(start, end, page -> cache.known(this, page));
  }

  /** Null where one of the pages is. */
  private static <E extends Exception> long[] entries(int start, int end, Pages<E> pages) throws E {
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
   * @throws InconsistentFilesException when the files are gone or are not what they were
   * @throws IOException when they cannot be read
   */
  long[] read(int page) throws IOException {
    int first = page * PAGE_PARTITIONS;
    int count = Math.min(PAGE_PARTITIONS, partitions - first);
    LongBuffer offsets = longs(files.index(), first, count + 1, partitions + 1L);
    boolean hasChecksums = files.checksums() != null;
    LongBuffer checksums = hasChecksums ? longs(files.checksums(), first, count, partitions) : null;
    long[] entries = new long[count * TableEntry.LONGS];
    for (int i = 0; i < count; i++) {
      long offset = offsets.get(i);
      long length = offsets.get(i + 1) - offset;
      if (offset < 0 || length < 0 || length > dataBytes - offset) {
        throw new InconsistentFilesException(files.index() + " is not what it was");
      }
      entries[i * TableEntry.LONGS] = TableEntry.first(offset, length);
      entries[i * TableEntry.LONGS + 1] =
          TableEntry.second(length, hasChecksums ? checksums.get(i) : 0);
    }
    return entries;
  }

  /** Not by a channel, which an interrupt of its reader would close. */
  private static LongBuffer longs(Path path, int first, int count, long all) throws IOException {
    byte[] bytes = new byte[count * Long.BYTES];
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
      if (file.length() != all * Long.BYTES) {
        throw new InconsistentFilesException(path + " is not what it was");
      }
      file.seek((long) first * Long.BYTES);
      file.readFully(bytes);
    } catch (FileNotFoundException e) { // Also where there is no descriptor for it.
      if (Files.notExists(path)) {
        throw new InconsistentFilesException(path + " is gone");
      }
      throw e;
    } catch (EOFException e) {
      throw new InconsistentFilesException(path + " is not what it was");
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
