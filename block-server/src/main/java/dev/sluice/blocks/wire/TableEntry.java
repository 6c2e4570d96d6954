package dev.sluice.blocks.wire;

/**
 * What a partition table says of one partition of a map output, in two little-endian longs: from
 * the lowest bits on 48 of the partition's offset in the data file, 48 of its length, and 32 of its
 * checksum.
 */
public final class TableEntry {
  /** Longs of an entry. */
  public static final int LONGS = 2;

  /** Bytes of an entry. */
  public static final int BYTES = LONGS * Long.BYTES;

  /** What an offset or a length stays below. */
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
}
