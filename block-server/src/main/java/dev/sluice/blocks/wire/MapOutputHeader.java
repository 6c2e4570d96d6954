// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import dev.sluice.rdma.RemoteRegion;
import org.jspecify.annotations.Nullable;

/**
 * Header of a map output in a partition table: four little-endian longs. They hold the map id, the
 * data's address, its length, and the state. The server's registry writes it to registered memory,
 * or a stager sends it; readers decode it. Peers READ it, so its layout is part of the protocol.
 * From the lowest bits on, the state holds the data's rkey (32 bits), a byte that is 1 if there is
 * a map output, and a byte for the checksum algorithm. Immutable.
 *
 * @param mapId the map task attempt's id, unique in the application (not the map index)
 * @param data the data file; its length is 0 if all partitions are empty, its address is 0 if it is
 *     not registered and has to be staged
 * @param checksumAlgorithm algorithm of the table's checksums
 */
public record MapOutputHeader(long mapId, RemoteRegion data, ChecksumAlgorithm checksumAlgorithm) {
  /** Longs of a header. */
  public static final int LONGS = 4;

  /** Bytes of a header. */
  public static final int BYTES = LONGS * Long.BYTES;

  /** Index of the state. A state of 0 means that there is no map output. */
  public static final int STATE = 3;

  private static final long PRESENT = 1;
  private static final int ALGORITHM_SHIFT = Integer.SIZE + Byte.SIZE;
  private static final ChecksumAlgorithm[] ALGORITHMS = ChecksumAlgorithm.values();

  /** Region that stands for a data file that is not registered. */
  public static RemoteRegion unregistered(long length) {
    return new RemoteRegion(0, length, 0);
  }

  /** Returns true if the bytes have to be staged before they can be READ. */
  public boolean isStaged() {
    return data.address() == 0 && data.length() > 0;
  }

  /** Encodes the header for {@link #of}. */
  public long[] toLongs() {
    long state =
        Integer.toUnsignedLong(data.rkey())
            | PRESENT << Integer.SIZE
            | (long) checksumAlgorithm.ordinal() << ALGORITHM_SHIFT;
    return new long[] {mapId, data.address(), data.length(), state};
  }

  /** Returns true if there is a map output. */
  public static boolean isPresent(long[] longs, int at) {
    return (longs[at + STATE] >>> Integer.SIZE & 0xFF) == PRESENT;
  }

  /**
   * @return null if there is no map output with that id, or the longs are not a header
   */
  public static @Nullable MapOutputHeader of(long mapId, long[] longs, int at) {
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
