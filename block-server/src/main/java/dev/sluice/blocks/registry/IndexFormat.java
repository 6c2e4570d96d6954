// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.wire.TableEntry;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.util.zip.CRC32;

/**
 * Format of a map output's index file: big-endian longs, the same number for each partition, and
 * one more. {@link MapOutputIndex} reads a whole file at registration, and {@link TableReading}
 * some pages of it later. No state; any thread.
 */
public enum IndexFormat {
  /** Spark's offsets in the data file, one for each partition and the end of the last one. */
  SPARK(1, MapOutputIndex.MAX_PARTITIONS) {
    @Override
    long length(LongBuffer index, int partition) {
      return index.get(partition + 1) - index.get(partition);
    }

    @Override
    long rawLength(LongBuffer index, int partition) {
      return 0;
    }

    @Override
    boolean isIntact(ByteBuffer file) {
      return true;
    }
  },

  /**
   * MapReduce's offset, raw length and length of each partition, and the CRC-32 of all of them. The
   * raw length is the one after decompression. The job's user controls the file, which is read as a
   * whole into memory of a daemon that serves other users: 3 MB at most.
   */
  MAPREDUCE(3, 1 << 17) {
    @Override
    long length(LongBuffer index, int partition) {
      return index.get(3 * partition + 2);
    }

    @Override
    long rawLength(LongBuffer index, int partition) {
      long bytes = index.get(3 * partition + 1);
      return bytes < 0 || bytes > MAX_RAW_LENGTH ? MAX_RAW_LENGTH : bytes;
    }

    @Override
    boolean isIntact(ByteBuffer file) {
      int end = file.limit() - Long.BYTES;
      CRC32 crc = new CRC32();
      crc.update(file.slice(0, end));
      return file.getLong(end) == crc.getValue();
    }
  };

  /** Raw length that stands for itself and for all larger ones. */
  private static final long MAX_RAW_LENGTH = 0xFFFF_FFFFL;

  /** Number of longs of a partition. */
  private final int longs;

  private final int maxPartitions;

  IndexFormat(int longs, int maxPartitions) {
    this.longs = longs;
    this.maxPartitions = maxPartitions;
  }

  /** Returns the limit of partitions. A map output with more is not registered. */
  int maxPartitions() {
    return maxPartitions;
  }

  /** Returns the size of a file with so many partitions. A larger file is not read. */
  int maxBytes() {
    return longs(maxPartitions) * Long.BYTES;
  }

  /** Returns the longs that describe adjoining partitions; a whole file has those of all. */
  int longs(int partitions) {
    return partitions * longs + 1;
  }

  /** Returns the bytes of the file before a partition. */
  long position(int partition) {
    return (long) partition * longs * Long.BYTES;
  }

  /** Returns the number of partitions of so many longs; -1 if no file of the format has so many. */
  int partitions(int count) {
    return count % longs == 1 % longs ? (count - 1) / longs : -1;
  }

  /**
   * Returns a partition's offset in the data file.
   *
   * @param index longs of adjoining partitions
   * @param partition counted from the first one of these
   */
  long offset(LongBuffer index, int partition) {
    return index.get(partition * longs);
  }

  /** Returns a partition's length in the data file. Parameters as {@link #offset}. */
  abstract long length(LongBuffer index, int partition);

  /**
   * Returns 32 bits for the entry of a partition without a checksum: its raw length, at most 2^32 -
   * 1; 0 if the index does not have it. Parameters as {@link #offset}.
   */
  abstract long rawLength(LongBuffer index, int partition);

  /** Returns true unless the whole file has a checksum that differs. */
  abstract boolean isIntact(ByteBuffer file);

  /**
   * Returns the end of the last partition; -1 if the partitions do not lie back to back, or not
   * below the limit of {@link TableEntry}.
   */
  long end(LongBuffer index, int partitions) {
    long end = offset(index, 0);
    for (int i = 0; i < partitions; i++) {
      long length = length(index, i);
      if (offset(index, i) != end || end < 0 || length < 0 || length >= TableEntry.LIMIT - end) {
        return -1;
      }
      end += length;
    }
    return end;
  }
}
