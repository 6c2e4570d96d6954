package dev.sluice.rdma.tools;

import dev.sluice.rdma.verbs.ibv.IbvWcArray;
import java.io.IOException;
import java.util.Arrays;

/**
 * The game itself: whoever has a message answers it. On each queue pair a side sends again once its
 * last message is gone and the answer is there, until it has sent and received as many as agreed;
 * the queue pairs of an SRQ count together. Used once, by one thread.
 */
final class PingPong {
  private final PingPongEndpoint endpoint;
  private final PingPongSettings settings;
  private final CompletionWait completions;
  private final boolean check;

  /** What each queue pair waits for: SEND and RECEIVE, as bits. */
  private final long[] pending;

  private int posted;
  private int sent;
  private int received;

  /**
   * @param check whether to compare what was received with what was sent
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

  /** Before the peer may send. */
  void postReceives() throws IOException {
    endpoint.postReceives(settings.rxDepth() - posted);
    posted = settings.rxDepth();
  }

  /**
   * @return nanoseconds that it took
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
        handle(completions.completions(), i);
      }
    }
    long nanos = System.nanoTime() - start;
    if (check) {
      endpoint.check();
    }
    return nanos;
  }

  private void handle(IbvWcArray completion, int index) throws IOException {
    int qp = endpoint.indexOf(completion.qpNum(index));
    long done = completion.wrId(index);
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
