package dev.sluice.benchmarks.postpoll;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvCq;
import dev.sluice.rdma.verbs.ibv.IbvQp;
import dev.sluice.rdma.verbs.ibv.IbvSendFlags;
import dev.sluice.rdma.verbs.ibv.IbvSendWrList;
import dev.sluice.rdma.verbs.ibv.IbvWcArray;
import dev.sluice.rdma.verbs.ibv.IbvWcStatus;
import dev.sluice.rdma.verbs.ibv.IbvWrOpcode;
import java.lang.foreign.Arena;

/** The loops of {@code post_poll.c} by the binding. */
final class JavaLoops {
  private static final int MAX_ENTRIES = 16;

  private final IbvSendWrList list;
  private final IbvWcArray completions;

  JavaLoops(Arena arena) {
    list = new IbvSendWrList(arena, 1, 1);
    completions = new IbvWcArray(arena, MAX_ENTRIES);
  }

  /** Nanoseconds of filling in and posting so many READs. */
  long post(IbvQp qp, int count) throws VerbsException {
    long start = System.nanoTime();
    for (int i = 0; i < count; i++) {
      list.clear();
      list.add(i, IbvWrOpcode.RDMA_READ, IbvSendFlags.SIGNALED)
          .sge(0x1000, 4096, 1)
          .rdma(0x2000, 2);
      qp.postSend(list);
    }
    return System.nanoTime() - start;
  }

  /** Nanoseconds of so many polls. */
  long poll(IbvCq cq, int entries, int count) throws VerbsException {
    long sum = 0;
    long start = System.nanoTime();
    for (int i = 0; i < count; i++) {
      int polled = cq.poll(completions, entries);
      for (int j = 0; j < polled; j++) {
        if (completions.status(j) != IbvWcStatus.SUCCESS) {
          return -1;
        }
        sum += completions.wrId(j) + completions.byteLength(j);
      }
    }
    return sum == 1 ? -1 : System.nanoTime() - start;
  }
}
