// SPDX-License-Identifier: Apache-2.0
package dev.sluice.examples;

import dev.sluice.verbs.Gid;
import java.nio.ByteBuffer;

/**
 * The address that one side sends to the other over TCP ({@code struct cm_con_data_t}). It names a
 * buffer and a queue pair.
 *
 * @param address address of the buffer
 * @param rkey rkey of the buffer
 * @param qpNum 24 bits
 * @param lid 16 bits; 0 on Ethernet
 * @param gid zero for none
 */
record RcAddress(long address, int rkey, int qpNum, int lid, Gid gid) {
  /** Bytes on the wire; all fields are in network byte order. */
  static final int WIRE_LENGTH = 8 + 4 + 4 + 2 + 16;

  byte[] toWire() {
    return ByteBuffer.allocate(WIRE_LENGTH)
        .putLong(address)
        .putInt(rkey)
        .putInt(qpNum)
        .putShort((short) lid)
        .putLong(gid.subnetPrefix())
        .putLong(gid.interfaceId())
        .array();
  }

  static RcAddress fromWire(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    return new RcAddress(
        in.getLong(),
        in.getInt(),
        in.getInt(),
        Short.toUnsignedInt(in.getShort()),
        new Gid(in.getLong(), in.getLong()));
  }
}
