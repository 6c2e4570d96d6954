// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

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
    int wcFlags,
    int pkeyIndex,
    int slid,
    int sl,
    int dlidPathBits) {
  static final int SIZE = 48;

  /** Sets the last members, which few completions have, to zero. */
  RawCompletion(
      long wrId,
      int status,
      int opcode,
      int vendorErr,
      int byteLen,
      int immData,
      int qpNum,
      int srcQp,
      int wcFlags) {
    this(wrId, status, opcode, vendorErr, byteLen, immData, qpNum, srcQp, wcFlags, 0, 0, 0, 0);
  }

  /** Returns a completion with different values in all members. */
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
        number % 16,
        0xff00 + number,
        0xfe00 + number,
        0xf0 + number % 8,
        0xe0 + number % 8);
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
    wc.set(JAVA_SHORT, 40, (short) pkeyIndex);
    wc.set(JAVA_SHORT, 42, (short) slid);
    wc.set(JAVA_BYTE, 44, (byte) sl);
    wc.set(JAVA_BYTE, 45, (byte) dlidPathBits);
  }

  /** Returns the members that Java reads. */
  static RawCompletion read(IbvWcArray array, int index) {
    return new RawCompletion(
        array.wrId(index),
        array.status(index).value(),
        array.opcode(index).number(),
        array.vendorError(index),
        array.byteLength(index),
        array.invalidatedRkey(index),
        array.qpNum(index),
        array.srcQp(index),
        array.flags(index),
        array.pkeyIndex(index),
        array.slid(index),
        array.sl(index),
        array.dlidPathBits(index));
  }
}
