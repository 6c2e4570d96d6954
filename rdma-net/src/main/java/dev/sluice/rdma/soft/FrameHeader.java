package dev.sluice.rdma.soft;

import java.net.ProtocolException;
import java.nio.ByteBuffer;

/**
 * The fixed header of every frame on a software connection, and its encoding. Reused for each frame
 * that a connection receives; guarded by the queue pair's lock.
 */
final class FrameHeader {
  static final int BYTES = 40;

  /**
   * Payload bytes of a frame at most. A region is checked again for every frame, as a NIC checks it
   * for every packet; more than this much is never copied when a region is deregistered.
   */
  static final int MAX_PAYLOAD_BYTES = 1 << 20;

  /** Flags: this is the first piece of a message. */
  static final int FIRST = 1;

  /** The last piece of a message. */
  static final int LAST = 1 << 1;

  /** The message carries immediate data. */
  static final int IMMEDIATE = 1 << 2;

  /** The receiver's completion is a solicited one. */
  static final int SOLICITED = 1 << 3;

  /** Sent again after RNR_NAK: the responder listens to requests again from here on. */
  static final int RESYNC = 1 << 4;

  FrameType type;
  int flags;
  int code;
  int length;
  long address;
  int rkey;
  int immediate;
  long operand;
  long swap;

  /** Appends a request's header to {@code out}. */
  static void encode(
      ByteBuffer out,
      FrameType type,
      int flags,
      int length,
      long address,
      int rkey,
      int immediate,
      long operand,
      long swap) {
    out.put((byte) type.ordinal()).put((byte) flags).putShort((short) 0).putInt(length);
    out.putLong(address).putInt(rkey).putInt(immediate).putLong(operand).putLong(swap);
  }

  /** Appends an answer's header to {@code out}. */
  static void encodeAnswer(ByteBuffer out, FrameType type, int flags, int code, int length) {
    out.put((byte) type.ordinal()).put((byte) flags).putShort((short) code).putInt(length);
    out.putLong(0).putLong(0).putLong(0).putLong(0);
  }

  void decode(ByteBuffer in) throws ProtocolException {
    int number = in.get();
    type = FrameType.of(number);
    flags = in.get();
    code = in.getShort();
    length = in.getInt();
    address = in.getLong();
    rkey = in.getInt();
    immediate = in.getInt();
    operand = in.getLong();
    swap = in.getLong();
    if (type == null || length < 0 || payloadBytes() > MAX_PAYLOAD_BYTES) {
      throw new ProtocolException("bad frame: type " + number + ", length " + length);
    }
  }

  boolean has(int flag) {
    return (flags & flag) != 0;
  }

  int payloadBytes() {
    return type.hasPayload() ? length : 0;
  }
}
