package dev.sluice.rdma.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * One side of a test's traffic: a queue pair, a completion queue, registered memory and lists of
 * work requests for them. The objects belong to the test's context, which closes them.
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

  /** An empty list of send requests, to be filled and {@linkplain #post posted}. */
  IbvSendWrList requests() {
    sends.clear();
    return sends;
  }

  /** A list of one signaled request, of which the test adds what else its opcode needs. */
  IbvSendWrList request(IbvWrOpcode opcode) {
    return requests().add(1, opcode, IbvSendFlags.SIGNALED);
  }

  /** A signaled request on the first bytes of this player's memory. */
  IbvSendWrList request(IbvWrOpcode opcode, int bytes) {
    return request(opcode).sge(mr.address(), bytes, mr.lkey());
  }

  /** Posts the requests and waits for the completion of a signaled one. */
  Completion complete(IbvSendWrList requests) throws VerbsException {
    qp.postSend(requests);
    return await();
  }

  /** As {@link #complete}, which must succeed. */
  Completion succeed(IbvSendWrList requests) throws VerbsException {
    Completion completion = complete(requests);
    assertThat(completion.status()).isEqualTo(IbvWcStatus.SUCCESS);
    return completion;
  }

  /** An empty list of receives. */
  IbvRecvWrList receives() {
    receives.clear();
    return receives;
  }

  /** A list of one receive into the first bytes of this player's memory. */
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

  /** Waits for so many completions, of any status. */
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

  /** The completions that there are. */
  List<Completion> poll(int limit) throws VerbsException {
    List<Completion> completions = new ArrayList<>();
    int count = cq.poll(polled, limit);
    for (int i = 0; i < count; i++) {
      completions.add(Completion.of(polled, i));
    }
    return completions;
  }

  /** The completions of the last poll, for functions that want the structure. */
  IbvWcArray polled() {
    return polled;
  }

  /** Fills the memory with bytes that a seed determines. */
  Player fill(long seed) {
    memory.copyFrom(MemorySegment.ofArray(bytes(seed, memory.byteSize())));
    return this;
  }

  /** That the memory holds from an offset on what {@link #fill} writes from another. */
  void assertHolds(long seed, long seedOffset, long offset, int length) {
    MemorySegment expected =
        MemorySegment.ofArray(bytes(seed, seedOffset + length)).asSlice(seedOffset, length);
    assertThat(memory.asSlice(offset, length).mismatch(expected))
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
