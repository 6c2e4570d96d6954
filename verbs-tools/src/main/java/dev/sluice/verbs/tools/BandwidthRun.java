// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.ibv.IbvWcArray;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * Keeps the send queue full and counts completions. Posts work requests in lists; one request per
 * group is signaled. Allocates nothing per message. {@link BandwidthCommand} runs it once, on one
 * thread, which also closes the endpoint's port.
 */
final class BandwidthRun {
  private final PerfEndpoint endpoint;
  private final PerfParameters parameters;
  private final CompletionWait completions;

  /** Number of messages in a group; its last message is signaled. */
  private final int group;

  /**
   * @param messages number of measured messages
   * @param nanos time from before the first post until the last completion
   */
  record Result(int messages, long nanos) {
    private static final double MIB = 1 << 20;

    double seconds() {
      return (double) nanos / TimeUnit.SECONDS.toNanos(1);
    }

    /**
     * @param size bytes of a message
     */
    double mebibytesPerSecond(int size) {
      return (double) messages * size / seconds() / MIB;
    }
  }

  BandwidthRun(PerfEndpoint endpoint, int group) {
    this.endpoint = endpoint;
    this.group = group;
    parameters = endpoint.parameters();
    completions = endpoint.completions();
  }

  /** Runs the client's side. */
  Result measure() throws IOException {
    transfer(parameters.warmUp(), Long.MAX_VALUE);
    long start = System.nanoTime();
    boolean timed = parameters.durationSeconds() > 0;
    long limitNanos =
        timed ? TimeUnit.SECONDS.toNanos(parameters.durationSeconds()) : Long.MAX_VALUE;
    int messages = transfer(timed ? Integer.MAX_VALUE : parameters.iters(), limitNanos);
    long nanos = System.nanoTime() - start;
    if (parameters.operation() == PerfOperation.SEND) {
      endpoint.addLastSend();
      endpoint.postSends();
      completions.await("the last SEND");
    }
    return new Result(messages, nanos);
  }

  /**
   * @param limitNanos time after which no further group begins
   * @return number of messages transferred
   */
  private int transfer(int messages, long limitNanos) throws IOException {
    long start = System.nanoTime();
    int target = messages;
    int posted = 0;
    int completed = 0;
    while (completed < target) {
      posted = post(posted, completed, target);
      int count = completions.await("a " + parameters.operation());
      completed = Math.min(completed + count * group, target);
      if (limitNanos != Long.MAX_VALUE && System.nanoTime() - start > limitNanos) {
        target = (posted + group - 1) / group * group;
      }
    }
    return target;
  }

  /**
   * Fills the send queue.
   *
   * @return number of messages posted so far
   */
  private int post(int alreadyPosted, int completed, int target) throws IOException {
    int posted = alreadyPosted;
    while (posted < target && posted - completed < parameters.depth()) {
      posted++;
      endpoint.addSend(posted % group == 0 || posted == target);
    }
    endpoint.postSends();
    return posted;
  }

  /** Runs the server's side: receives SENDs. The server has no part in the other operations. */
  void serve() throws IOException {
    if (parameters.operation() != PerfOperation.SEND) {
      return;
    }
    boolean last = false;
    while (!last) {
      int count = completions.await("a message");
      for (int i = 0; i < count; i++) {
        last |= (completions.completions().flags(i) & IbvWcArray.Flags.WITH_IMM) != 0;
      }
      endpoint.postReceives(count);
    }
  }
}
