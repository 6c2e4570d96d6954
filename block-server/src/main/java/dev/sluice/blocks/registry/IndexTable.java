// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.registry.MapOutput.PartitionTable;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.blocks.wire.TableSegment;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Partition table of a staged or unserved map output, read from its index and checksum files.
 * {@link ShuffleOutputs} creates it. {@link MapOutputIndex} checked those of a staged one as a
 * whole at registration. Each page is checked when it is read ({@link TableReading}). The {@link
 * IndexCache} keeps recent pages until others replace them, even of a map output that is gone. Any
 * thread, which may be interrupted.
 */
final class IndexTable implements PartitionTable {
  /** Number of partitions of a page, which is the unit of reading: 2 KiB of each file. */
  static final int PAGE_PARTITIONS = 256;

  private final IndexCache cache;
  private final MapOutputFiles.Files files;
  private final int partitions;
  private final long dataBytes;

  /**
   * @param dataBytes length of the data file
   */
  IndexTable(IndexCache cache, MapOutputFiles.Files files, int partitions, long dataBytes) {
    this.cache = cache;
    this.files = files;
    this.partitions = partitions;
    this.dataBytes = dataBytes;
  }

  @Override
  public MapOutputLocation location(long mapId) {
    return new MapOutputLocation(mapId, TableSegment.unregistered(partitions), 0);
  }

  @Override
  public int partitions() {
    return partitions;
  }

  long dataBytes() {
    return dataBytes;
  }

  /** Waits for the disk if the cache lacks a page. */
  @Override
  public long[] entries(int start, int end) throws IOException {
    long[] known = known(start, end);
    if (known != null) {
      return known;
    }
    TableReading reading = reading(start, end);
    reading.readIndex();
    return requireNonNull(reading.readChecksums());
  }

  @Override
  public long @Nullable [] known(int start, int end) {
    long[] entries = new long[(end - start) * TableEntry.LONGS];
    int at = start;
    while (at < end) {
      int page = at / PAGE_PARTITIONS;
      int first = page * PAGE_PARTITIONS;
      int count = Math.min(end, first + PAGE_PARTITIONS) - at;
      long[] known = cache.known(this, page);
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

  @Override
  public TableReading reading(int start, int end) {
    return new TableReading(this, files, start, end);
  }

  /** Caches entries of whole pages, from the first one's first partition; returns [start, end). */
  long[] kept(int first, long[] entries, int start, int end) {
    int longs = PAGE_PARTITIONS * TableEntry.LONGS;
    for (int at = 0; at < entries.length; at += longs) {
      long[] page =
          entries.length <= longs
              ? entries
              : Arrays.copyOfRange(entries, at, Math.min(entries.length, at + longs));
      cache.keep(this, (first * TableEntry.LONGS + at) / longs, page);
    }
    return Arrays.copyOfRange(
        entries, (start - first) * TableEntry.LONGS, (end - first) * TableEntry.LONGS);
  }

  @Override
  public List<Path> files() {
    return files.checksums() == null
        ? List.of(files.index())
        : List.of(files.index(), files.checksums());
  }
}
