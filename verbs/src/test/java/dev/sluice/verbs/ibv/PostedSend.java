// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A {@code struct ibv_send_wr} as a driver reads it: its entries, and all of its bytes except the
 * pointers to the next request and to the entries.
 */
record PostedSend(List<Sge> sgList, List<Integer> words) {
  private static final int SIZE = 128;
  private static final int NEXT = 8;
  private static final int SG_LIST = 16;
  private static final int NUM_SGE = 24;

  static PostedSend read(long pointer) {
    MemorySegment wr = FakeDevice.at(pointer, SIZE);
    int[] words = wr.toArray(JAVA_INT);
    Arrays.fill(words, NEXT / Integer.BYTES, NUM_SGE / Integer.BYTES, 0);
    return new PostedSend(
        Sge.read(wr.get(JAVA_LONG, SG_LIST), wr.get(JAVA_INT, NUM_SGE)),
        IntStream.of(words).boxed().toList());
  }

  long wrId() {
    return u64(0);
  }

  int opcode() {
    return u32(28);
  }

  int sendFlags() {
    return u32(32);
  }

  /** Immediate data in network byte order; the key of an invalidation. */
  int immData() {
    return u32(36);
  }

  /** Remote address of RDMA operations and atomics. */
  long remoteAddr() {
    return u64(40);
  }

  int rdmaRkey() {
    return u32(48);
  }

  long compareAdd() {
    return u64(48);
  }

  long swap() {
    return u64(56);
  }

  int atomicRkey() {
    return u32(64);
  }

  long ah() {
    return u64(40);
  }

  int remoteQpn() {
    return u32(48);
  }

  int remoteQkey() {
    return u32(52);
  }

  long bindMw() {
    return u64(80);
  }

  int bindRkey() {
    return u32(88);
  }

  long bindMr() {
    return u64(96);
  }

  long bindAddr() {
    return u64(104);
  }

  long bindLength() {
    return u64(112);
  }

  int bindAccess() {
    return u32(120);
  }

  private int u32(int offset) {
    return words.get(offset / Integer.BYTES);
  }

  private long u64(int offset) {
    return Integer.toUnsignedLong(u32(offset)) | (long) u32(offset + Integer.BYTES) << 32;
  }
}
