// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import java.net.ProtocolException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The fixed header of every frame on a software connection, and its big-endian encoding. Fields
 * that a type does not use are 0. A {@link SoftConnection} has one for the frames that it receives,
 * and reuses it. A changed layout needs another version of {@link SoftAddress}. Guarded by the
 * queue pair's lock; the static methods are stateless.
 */
final class FrameHeader {
  static final int BYTES = 20;

  /**
   * Maximum payload of a frame in bytes. A region is checked again for every frame, as a NIC checks
   * it for every packet. It also bounds the unsent bytes that {@link FrameBatch#detach} copies when
   * a region is deregistered.
   */
  static final int MAX_PAYLOAD_BYTES = 1 << 20;

  /** Type of the frame; READ is a placeholder until the first decode. */
  FrameType type = FrameType.READ;

  int code;
  int length;
  long address;
  int rkey;

  static void encodeRead(ByteBuffer out, int length, long address, int rkey) {
    encode(out, FrameType.READ, 0, length, address, rkey);
  }

  static void encodeData(ByteBuffer out, int bytes) {
    encode(out, FrameType.DATA, 0, bytes, 0, 0);
  }

  static void encodeNak(ByteBuffer out, int code) {
    encode(out, FrameType.NAK, code, 0, 0, 0);
  }

  private static void encode(
      ByteBuffer out, FrameType type, int code, int length, long address, int rkey) {
    out.putShort((short) type.ordinal()).putShort((short) code).putInt(length);
    out.putLong(address).putInt(rkey);
  }

  void decode(ByteBuffer in) throws ProtocolException {
    int number = in.getShort();
    FrameType known = FrameType.of(number);
    code = in.getShort();
    length = in.getInt();
    address = in.getLong();
    rkey = in.getInt();
    if (known == null || length < 0 || (known == FrameType.DATA && length > MAX_PAYLOAD_BYTES)) {
      throw new ProtocolException("bad frame: type " + number + ", length " + length);
    }
    type = known;
  }

  /** Type of a frame on a software connection. The ordinal is its number on the wire. */
  enum FrameType {
    /** A request for {@code length} bytes at {@code address} of the region with {@code rkey}. */
    READ,
    /** The next piece of the answer to the oldest request: a payload of {@code length} bytes. */
    DATA,
    /** The oldest request failed with the status {@code code}; the responder serves no other. */
    NAK;

    private static final FrameType[] VALUES = values();

    static @Nullable FrameType of(int number) {
      return number >= 0 && number < VALUES.length ? VALUES[number] : null;
    }
  }
}
