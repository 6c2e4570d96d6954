// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * One side of a test's traffic: a queue pair, a completion queue, registered memory and lists of
 * work requests for them. The test's context owns the objects and closes them.
 */
final class Player {
  private static final int REQUESTS = 256;
  private static final int MAX_SGE = 40;

  final IbvQp qp;
  final IbvCq cq;
  final IbvMr mr;
  final MemorySegment memory;

  private final IbvSendWrList sends;
  private final IbvRecvWrList receives;
  private final IbvWcArray polled;

  @SuppressWarnings("restricted")
  Player(Arena arena, IbvQp qp, IbvCq cq, IbvMr mr) {
    this.qp = qp;
    this.cq = cq;
    this.mr = mr;
    memory = MemorySegment.ofAddress(mr.address()).reinterpret(mr.length());
    sends = new IbvSendWrList(arena, REQUESTS, MAX_SGE);
    receives = new IbvRecvWrList(arena, REQUESTS, MAX_SGE);
    polled = new IbvWcArray(arena, 64);
  }

  long address(long offset) {
    return mr.address() + offset;
  }

  /** Returns an empty list of send requests, to be filled and posted. */
  IbvSendWrList requests() {
    sends.clear();
    return sends;
  }

  /** Returns a list of one signaled request; the test adds the other members for its opcode. */
  IbvSendWrList request(IbvSendWrList.Opcode opcode) {
    return requests().add(1, opcode, IbvSendWrList.Flags.SIGNALED);
  }

  /** Returns a signaled request on the first bytes of this player's memory. */
  IbvSendWrList request(IbvSendWrList.Opcode opcode, int bytes) {
    return request(opcode).sge(mr.address(), bytes, mr.lkey());
  }

  /** Posts the requests and waits for the completion of a signaled one. */
  Completion complete(IbvSendWrList requests) throws VerbsException {
    qp.postSend(requests);
    return await();
  }

  /** Posts as {@link #complete} and checks that the request succeeds. */
  Completion succeed(IbvSendWrList requests) throws VerbsException {
    Completion completion = complete(requests);
    assertThat(completion.status()).isEqualTo(IbvWcArray.Status.SUCCESS);
    return completion;
  }

  /** Returns an empty list of receives. */
  IbvRecvWrList receives() {
    receives.clear();
    return receives;
  }

  /** Returns a list of one receive into the first bytes of this player's memory. */
  IbvRecvWrList receive(int bytes) {
    return receives().add(2).sge(mr.address(), bytes, mr.lkey());
  }

  void postReceive(int bytes) throws VerbsException {
    qp.postRecv(receive(bytes));
  }

  /** Waits for one completion. */
  Completion await() throws VerbsException {
    return await(1).getFirst();
  }

  /** Waits for a number of completions, of any status. */
  List<Completion> await(int count) throws VerbsException {
    List<Completion> completions = new ArrayList<>();
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(IbvTestCase.DEADLINE_MS);
    while (completions.size() < count) {
      completions.addAll(poll(count - completions.size()));
      if (completions.size() < count) {
        assertThat(System.nanoTime()).as("deadline; %s", completions).isLessThan(deadline);
        Thread.onSpinWait();
        Thread.yield();
      }
    }
    return completions;
  }

  /** Returns the available completions without waiting. */
  List<Completion> poll(int limit) throws VerbsException {
    List<Completion> completions = new ArrayList<>();
    int count = cq.poll(polled, limit);
    for (int i = 0; i < count; i++) {
      completions.add(Completion.of(polled, i));
    }
    return completions;
  }

  /** Returns the completions of the last poll, for functions that need the structure. */
  IbvWcArray polled() {
    return polled;
  }

  /** Fills the memory with the bytes that a seed determines. */
  Player fill(long seed) {
    memory.copyFrom(MemorySegment.ofArray(bytes(seed, memory.byteSize())));
    return this;
  }

  /** True if the memory holds at an offset the bytes that {@link #fill} puts at another one. */
  boolean holds(long seed, long seedOffset, long offset, int length) {
    return mismatch(seed, seedOffset, offset, length) == -1;
  }

  private long mismatch(long seed, long seedOffset, long offset, int length) {
    MemorySegment expected =
        MemorySegment.ofArray(bytes(seed, seedOffset + length)).asSlice(seedOffset, length);
    return memory.asSlice(offset, length).mismatch(expected);
  }

  void assertHolds(long seed, long seedOffset, long offset, int length) {
    assertThat(mismatch(seed, seedOffset, offset, length))
        .as("index of the first wrong byte of %d", length)
        .isEqualTo(-1);
  }

  void assertHolds(long seed, int length) {
    assertHolds(seed, 0, 0, length);
  }

  private static byte[] bytes(long seed, long length) {
    byte[] bytes = new byte[(int) length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }
}
