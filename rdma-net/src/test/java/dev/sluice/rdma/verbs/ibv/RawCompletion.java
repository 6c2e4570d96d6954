package dev.sluice.rdma.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;

/** A {@code struct ibv_wc} as a driver writes it. */
record RawCompletion(
    long wrId,
    int status,
    int opcode,
    int vendorErr,
    int byteLen,
    int immData,
    int qpNum,
    int srcQp,
    int wcFlags) {
  static final int SIZE = 48;

  /** With different values in all members. */
  static RawCompletion numbered(int number) {
    return new RawCompletion(
        0x0123_4567_0000_0000L + number,
        number % 24,
        number % 7,
        0x300 + number,
        0x400 + number,
        0x500 + number,
        0x600 + number,
        0x700 + number,
        number % 16);
  }

  void write(MemorySegment wc) {
    wc.set(JAVA_LONG, 0, wrId);
    wc.set(JAVA_INT, 8, status);
    wc.set(JAVA_INT, 12, opcode);
    wc.set(JAVA_INT, 16, vendorErr);
    wc.set(JAVA_INT, 20, byteLen);
    wc.set(JAVA_INT, 24, immData);
    wc.set(JAVA_INT, 28, qpNum);
    wc.set(JAVA_INT, 32, srcQp);
    wc.set(JAVA_INT, 36, wcFlags);
    wc.set(JAVA_SHORT, 40, (short) 0);
    wc.set(JAVA_SHORT, 42, (short) 0);
    wc.set(JAVA_BYTE, 44, (byte) 0);
    wc.set(JAVA_BYTE, 45, (byte) 0);
  }

  /** What Java reads of it. */
  static RawCompletion read(IbvWcArray array, int index) {
    return new RawCompletion(
        array.wrId(index),
        array.status(index).value(),
        array.opcode(index).value(),
        array.vendorError(index),
        array.byteLength(index),
        array.invalidatedRkey(index),
        array.qpNum(index),
        array.srcQp(index),
        array.flags(index));
  }
}
