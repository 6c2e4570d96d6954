package dev.sluice.blocks.wire;

import dev.sluice.rdma.RemoteRegion;

/**
 * What a partition table says of a map output as a whole, in four little-endian longs: map id,
 * address and length of the data, and in the last one, from the lowest bits on, 32 of the data's
 * key, a byte that is 1 where there is a map output, and a byte for the checksums' algorithm.
 *
 * @param mapId the map task attempt's id, unique in the application (not the map index)
 * @param data the data file; of length 0 where all partitions are empty, at address 0 where it is
 *     not registered and its bytes have to be staged
 * @param checksumAlgorithm of the table's checksums
 */
public record MapOutputHeader(long mapId, RemoteRegion data, ChecksumAlgorithm checksumAlgorithm) {
  /** Longs of a header. */
  public static final int LONGS = 4;

  /** Bytes of a header. */
  public static final int BYTES = LONGS * Long.BYTES;

  /** The long that says whether there is a map output: cleared, there is none. */
  public static final int STATE = 3;

  private static final long PRESENT = 1;
  private static final int ALGORITHM_SHIFT = Integer.SIZE + Byte.SIZE;
  private static final ChecksumAlgorithm[] ALGORITHMS = ChecksumAlgorithm.values();

  /** A data file that is not registered. */
  public static RemoteRegion unregistered(long length) {
    return new RemoteRegion(0, length, 0);
  }

  /** Whether the bytes are to be asked for before they can be READ. */
  public boolean isStaged() {
    return data.address() == 0 && data.length() > 0;
  }

  /** What {@link #of} takes. */
  public long[] toLongs() {
    long state =
        Integer.toUnsignedLong(data.rkey())
            | PRESENT << Integer.SIZE
            | (long) checksumAlgorithm.ordinal() << ALGORITHM_SHIFT;
    return new long[] {mapId, data.address(), data.length(), state};
  }

  /** Whether there is a map output. */
  public static boolean isPresent(long[] longs, int at) {
    return (longs[at + STATE] >>> Integer.SIZE & 0xFF) == PRESENT;
  }

  /**
   * @return null where there is no map output of that id, or nothing that can be a header
   */
  public static MapOutputHeader of(long mapId, long[] longs, int at) {
    long state = longs[at + STATE];
    long algorithm = state >>> ALGORITHM_SHIFT;
    if (!isPresent(longs, at)
        || longs[at] != mapId
        || longs[at + 2] < 0
        || algorithm >= ALGORITHMS.length) {
      return null;
    }
    RemoteRegion data = new RemoteRegion(longs[at + 1], longs[at + 2], (int) state);
    return new MapOutputHeader(mapId, data, ALGORITHMS[(int) algorithm]);
  }
}
