// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import java.io.IOException;
import java.util.Arrays;

/**
 * Message loop of a ping-pong: a side answers each message that it receives. On each queue pair, a
 * side sends again once its last SEND has completed and the answer has arrived. It ends when the
 * agreed numbers of messages are sent and received. The queue pairs of an SRQ count together.
 * {@link PingPongCommand} uses it once, on one thread.
 */
final class PingPong {
  private final PingPongEndpoint endpoint;
  private final PingPongSettings settings;
  private final CompletionWait completions;
  private final boolean check;

  /** For each queue pair, the completions it waits for: the bits SEND and RECEIVE. */
  private final long[] pending;

  private int posted;
  private int sent;
  private int received;

  /**
   * @param check true to compare received data with sent data
   */
  PingPong(
      PingPongEndpoint endpoint,
      PingPongSettings settings,
      CompletionWait completions,
      boolean check) {
    this.endpoint = endpoint;
    this.settings = settings;
    this.completions = completions;
    this.check = check;
    pending = new long[settings.queuePairs()];
    Arrays.fill(pending, PingPongEndpoint.RECEIVE);
  }

  /** Posts receives. Call it before the peer may send. */
  void postReceives() throws IOException {
    endpoint.postReceives(settings.rxDepth() - posted);
    posted = settings.rxDepth();
  }

  /**
   * @return duration in nanoseconds
   */
  long play() throws IOException {
    long start = System.nanoTime();
    if (settings.client()) {
      for (int qp = 0; qp < settings.queuePairs(); qp++) {
        send(qp);
      }
    }
    while (sent < settings.iters() || received < settings.iters()) {
      int count = completions.await("message " + Math.min(sent, received));
      for (int i = 0; i < count; i++) {
        handle(completions.qpNum(i), completions.wrId(i));
      }
    }
    long nanos = System.nanoTime() - start;
    if (check) {
      endpoint.check();
    }
    return nanos;
  }

  private void handle(int qpNumber, long done) throws IOException {
    int qp = endpoint.indexOf(qpNumber);
    if (done == PingPongEndpoint.SEND) {
      sent++;
    } else {
      received++;
      posted--;
      if (posted <= settings.queuePairs()) {
        postReceives();
      }
    }
    pending[qp] &= ~done;
    if (pending[qp] == 0 && sent < settings.iters()) {
      send(qp);
    }
  }

  private void send(int qp) throws IOException {
    endpoint.postSend(qp);
    pending[qp] = PingPongEndpoint.SEND | PingPongEndpoint.RECEIVE;
  }
}
