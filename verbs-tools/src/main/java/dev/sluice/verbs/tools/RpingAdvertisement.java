// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import java.nio.ByteBuffer;

/**
 * The message of rping, which names memory that the peer may READ or WRITE. The receiver of a "go
 * ahead" ignores the numbers. The format is that of the C program.
 *
 * @param size bytes
 */
record RpingAdvertisement(long address, int rkey, int size) {
  static final RpingAdvertisement GO_AHEAD = new RpingAdvertisement(0, 0, 0);

  /** Bytes on the wire: a 64-bit number and two of 32 bits in network byte order. */
  static final int WIRE_LENGTH = Long.BYTES + 2 * Integer.BYTES;

  byte[] toWire() {
    return ByteBuffer.allocate(WIRE_LENGTH).putLong(address).putInt(rkey).putInt(size).array();
  }

  static RpingAdvertisement fromWire(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    return new RpingAdvertisement(in.getLong(), in.getInt(), in.getInt());
  }

  /** Omits the key. */
  @Override
  public String toString() {
    return size + " bytes at 0x" + Long.toHexString(address);
  }
}
