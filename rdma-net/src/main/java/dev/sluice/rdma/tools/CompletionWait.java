package dev.sluice.rdma.tools;

import dev.sluice.rdma.verbs.ibv.IbvCompChannel;
import dev.sluice.rdma.verbs.ibv.IbvContext;
import dev.sluice.rdma.verbs.ibv.IbvCq;
import dev.sluice.rdma.verbs.ibv.IbvWcArray;
import dev.sluice.rdma.verbs.ibv.IbvWcStatus;
import java.io.IOException;
import java.lang.foreign.Arena;

/**
 * Waits for completions of one queue, by polling or by sleeping until there is an event. One
 * thread; the completions are valid until its next call. Polling allocates nothing.
 */
final class CompletionWait {
  /** Completions that one poll takes. */
  private static final int BATCH = 16;

  /** Empty polls after which to look at the clock, which may cost a hundred polls. */
  private static final int POLLS_PER_CLOCK = 1 << 16;

  /** Empty polls after which to yield: a microsecond or less of them. */
  private static final int POLLS_PER_YIELD = 32;

  private final CompletionMode mode;
  private final IbvCompChannel channel;
  private final IbvCq cq;
  private final IbvWcArray completions;
  private final Deadline deadline;
  private int spins;

  /**
   * @param entries of the completion queue
   */
  CompletionWait(
      IbvContext context, Arena arena, int entries, CompletionMode mode, Deadline deadline)
      throws IOException {
    this.deadline = deadline;
    this.mode = mode;
    channel = mode == CompletionMode.EVENTS ? context.createCompChannel() : null;
    cq = context.createCq(entries, channel, 0);
    completions = new IbvWcArray(arena, BATCH);
  }

  IbvCq cq() {
    return cq;
  }

  IbvWcArray completions() {
    return completions;
  }

  /**
   * Waits for completions, all of them successful.
   *
   * @param awaited what is to be completed, for messages
   * @return their number, at least 1
   */
  int await(String awaited) throws IOException {
    int count = channel == null ? spin(awaited) : sleep(awaited);
    check(count, awaited);
    return count;
  }

  /** As {@link #await}, but takes what there is and does not wait. */
  int poll(String awaited) throws IOException {
    int count = cq.poll(completions);
    check(count, awaited);
    return count;
  }

  private void check(int count, String awaited) throws IOException {
    for (int i = 0; i < count; i++) {
      if (completions.status(i) != IbvWcStatus.SUCCESS) {
        throw new IOException(
            awaited + " failed: " + completions.statusText(i) + " (" + completions.status(i) + ")");
      }
    }
  }

  /** Looks at the clock now and then, for whoever waits for something else than completions. */
  void spinOnce(String awaited) throws IOException {
    if (++spins % POLLS_PER_CLOCK == 0) {
      deadline.leftMs(awaited);
    }
  }

  private int spin(String awaited) throws IOException {
    while (true) {
      int count = cq.poll(completions);
      if (count > 0) {
        return count;
      }
      spinOnce(awaited);
      if (mode == CompletionMode.YIELD && spins % POLLS_PER_YIELD == 0) {
        Thread.yield();
      }
    }
  }

  /** Polls once more after arming: what came before that raises no event. */
  private int sleep(String awaited) throws IOException {
    while (true) {
      int count = cq.poll(completions);
      if (count == 0) {
        cq.requestNotify(false);
        count = cq.poll(completions);
      }
      if (count > 0) {
        return count;
      }
      channel.awaitEvent(deadline.leftMs(awaited));
      cq.acknowledgeEvents();
    }
  }
}
