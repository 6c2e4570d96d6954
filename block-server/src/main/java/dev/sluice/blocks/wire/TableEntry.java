// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

/**
 * Entry of a partition table for one partition of a map output: two little-endian longs. A server's
 * registry writes it, or a stager sends it; readers take it apart. Peers READ it, so its layout is
 * part of the protocol. From the lowest bits on, the longs hold the partition's offset in the data
 * file (48 bits), its length (48 bits) and its checksum (32 bits). No state; any thread.
 *
 * <p>A MapReduce job's entries have the raw length, after decompression, in place of a checksum. A
 * raw length of 2^32 - 1 also stands for larger ones.
 */
public final class TableEntry {
  /** Longs of an entry. */
  public static final int LONGS = 2;

  /** Bytes of an entry. */
  public static final int BYTES = LONGS * Long.BYTES;

  /** Offsets and lengths are below this limit. */
  public static final long LIMIT = 1L << 48;

  private static final int LENGTH_SHIFT = 48;
  private static final int LOW_BITS = Long.SIZE - LENGTH_SHIFT;

  private TableEntry() {}

  public static long first(long offset, long length) {
    return offset | length << LENGTH_SHIFT;
  }

  public static long second(long length, long checksum) {
    return length >>> LOW_BITS | checksum << Integer.SIZE;
  }

  public static long offset(long first) {
    return first & LIMIT - 1;
  }

  public static long length(long first, long second) {
    return first >>> LENGTH_SHIFT | (second & 0xFFFF_FFFFL) << LOW_BITS;
  }

  public static long checksum(long second) {
    return second >>> Integer.SIZE;
  }

  /** Returns the end of the partition whose entry is the last one of these longs. */
  public static long end(long[] longs) {
    long first = longs[longs.length - LONGS];
    return offset(first) + length(first, longs[longs.length - 1]);
  }

  /**
   * Returns the bytes of adjoining partitions.
   *
   * @param at index of their first entry; the last one ends the longs
   */
  public static long bytes(long[] longs, int at) {
    return end(longs) - offset(longs[at]);
  }

  /** Returns one entry, without a checksum, for adjoining partitions. */
  public static long[] sum(long[] entries) {
    long bytes = bytes(entries, 0);
    return new long[] {first(offset(entries[0]), bytes), second(bytes, 0)};
  }
}
