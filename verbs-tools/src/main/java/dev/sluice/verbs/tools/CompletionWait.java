// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.Deadline;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.FileDescriptors;
import dev.sluice.verbs.ibv.IbvCompChannel;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvCq;
import dev.sluice.verbs.ibv.IbvCqEx;
import dev.sluice.verbs.ibv.IbvCqInitAttrEx;
import dev.sluice.verbs.ibv.IbvWcArray;
import java.io.IOException;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/**
 * Waits for completions of one queue, by polling or by sleeping until there is an event. {@link
 * PingPong}, {@link XsrqPingPongCommand}, {@link PerfEndpoint} and {@link RpingConnection} each
 * create one. The command's thread uses it; closing the device closes queue and channel. An index
 * counts the completions of the last {@link #await} or {@link #poll}, from 0; the next call
 * overwrites them. Polling allocates nothing.
 */
final class CompletionWait {
  /** Maximum number of completions per poll. */
  private static final int BATCH = 16;

  /** Number of empty polls per look at the clock, which may cost as much as a hundred polls. */
  private static final int POLLS_PER_CLOCK = 1 << 16;

  /** Number of empty polls between yields; they take a microsecond or less. */
  private static final int POLLS_PER_YIELD = 32;

  /** Number that poll(2) ignores. */
  private static final int NO_DESCRIPTOR = -1;

  private final Mode mode;
  private final @Nullable IbvCompChannel channel;
  private final IbvCq cq;
  private final IbvWcArray completions;
  private final @Nullable Extended extended;
  private final Deadline deadline;
  private int spins;

  /** Ways in which a thread waits for completions. */
  enum Mode {
    /** Polls all the time. Has the shortest latency, if the thread has a CPU of its own. */
    SPIN,

    /**
     * Polls, and yields the CPU between polls. Yielding costs nothing while requests are queued,
     * and gives the CPU to a driver that needs it, such as soft-RoCE's.
     */
    YIELD,

    /** Sleeps on the completion channel. */
    EVENTS
  }

  /**
   * @param entries size of the completion queue
   * @param ext true to poll by ibv_start_poll and its siblings, without {@link #completions}
   */
  CompletionWait(
      IbvContext context, Arena arena, int entries, Mode mode, Deadline deadline, boolean ext)
      throws IOException {
    this.deadline = deadline;
    this.mode = mode;
    channel = mode == Mode.EVENTS ? context.createCompChannel() : null;
    if (ext) {
      IbvCqInitAttrEx attr = new IbvCqInitAttrEx(entries, channel, 0, IbvCqEx.WcFlags.QP_NUM, 0);
      extended = new Extended(context.createCqEx(attr));
      cq = extended.cq.cq();
    } else {
      extended = null;
      cq = context.createCq(entries, channel, 0);
    }
    completions = new IbvWcArray(arena, BATCH);
  }

  /** Completions of an extended completion queue, read member by member into arrays. */
  private record Extended(IbvCqEx cq, long[] wrIds, int[] qpNums, IbvWcArray.Status[] statuses) {
    Extended(IbvCqEx cq) {
      this(cq, new long[BATCH], new int[BATCH], new IbvWcArray.Status[BATCH]);
    }

    /**
     * Takes each completion in a batch of its own. In rdma-core 44, if ibv_next_poll finds nothing,
     * the end of the batch drops one completion of soft-RoCE.
     */
    int poll() throws VerbsException {
      int count = 0;
      for (; count < BATCH && cq.startPoll(); count++) {
        wrIds[count] = cq.wrId();
        qpNums[count] = cq.readQpNum();
        statuses[count] = cq.status();
        cq.endPoll();
      }
      return count;
    }
  }

  IbvCq cq() {
    return cq;
  }

  IbvWcArray completions() {
    return completions;
  }

  long wrId(int index) {
    return extended == null ? completions.wrId(index) : extended.wrIds[index];
  }

  int qpNum(int index) {
    return extended == null ? completions.qpNum(index) : extended.qpNums[index];
  }

  private IbvWcArray.Status status(int index) {
    return extended == null ? completions.status(index) : extended.statuses[index];
  }

  private int take() throws IOException {
    return extended == null ? cq.poll(completions) : extended.poll();
  }

  /**
   * Waits for completions and checks that all succeeded.
   *
   * @param awaited the operation, for messages
   * @return number of completions, at least 1
   */
  int await(String awaited) throws IOException {
    return await(awaited, NO_DESCRIPTOR);
  }

  /**
   * Waits as {@link #await(String)}. With {@link Mode#EVENTS}, returns 0 if there is no completion
   * when a file descriptor becomes readable.
   */
  int await(String awaited, int descriptor) throws IOException {
    int count = channel == null ? spin(awaited) : sleep(channel, awaited, descriptor);
    check(count, awaited);
    return count;
  }

  /** Takes completions without waiting; otherwise as {@link #await}. May return 0. */
  int poll(String awaited) throws IOException {
    int count = take();
    check(count, awaited);
    return count;
  }

  private void check(int count, String awaited) throws IOException {
    for (int i = 0; i < count; i++) {
      if (status(i) != IbvWcArray.Status.SUCCESS) {
        String text = extended == null ? completions.statusText(i) + " " : "";
        throw new IOException(awaited + " failed: " + text + "(" + status(i) + ")");
      }
    }
  }

  /** Checks the deadline now and then, for callers that poll something other than completions. */
  void spinOnce(String awaited) throws IOException {
    if (++spins % POLLS_PER_CLOCK == 0) {
      deadline.leftMs(awaited);
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // one of the ways to wait that are measured
  private int spin(String awaited) throws IOException {
    while (true) {
      int count = take();
      if (count > 0) {
        return count;
      }
      spinOnce(awaited);
      if (mode == Mode.YIELD && spins % POLLS_PER_YIELD == 0) {
        Thread.yield();
      }
    }
  }

  /** Sleeps until there are completions. Polls again after arming: earlier ones raise no event. */
  private int sleep(IbvCompChannel events, String awaited, int descriptor) throws IOException {
    long ready = 0;
    while (true) {
      int count = take();
      if (count == 0) {
        cq.requestNotify(false);
        count = take();
      }
      if (count > 0 || (ready & 2) != 0) { // bit 1 is the descriptor, bit 0 the channel
        return count;
      }
      ready = FileDescriptors.awaitReadable(deadline.leftMs(awaited), events.fd(), descriptor);
      if ((ready & 1) != 0) {
        events.getEvent();
        cq.acknowledgeEvents();
      }
    }
  }
}
