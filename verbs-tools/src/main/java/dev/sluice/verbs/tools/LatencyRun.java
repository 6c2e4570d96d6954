// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import java.io.IOException;
import java.util.Arrays;

/**
 * Sends one message at a time and measures the time of each. A READ or atomic ends when its data
 * arrive. A WRITE or SEND ends when the peer's answer arrives, so it counts as two messages.
 * Allocates nothing per message. {@link LatencyCommand} runs it once, on one thread, which also
 * closes the endpoint's port.
 */
final class LatencyRun {
  /** An odd number, so that there is one median. */
  private static final int CLOCK_READINGS = 1001;

  private final PerfEndpoint endpoint;
  private final PerfParameters parameters;
  private final CompletionWait completions;
  private int underWay;

  LatencyRun(PerfEndpoint endpoint) {
    this.endpoint = endpoint;
    parameters = endpoint.parameters();
    completions = endpoint.completions();
  }

  /** Runs the client's side. */
  LatencyResult measure() throws IOException {
    long[] stamps = new long[parameters.iters() + 1];
    for (int i = 0; i < parameters.total(); i++) {
      if (i >= parameters.warmUp()) {
        stamps[i - parameters.warmUp()] = System.nanoTime();
      }
      switch (parameters.operation()) {
        case READ, FETCH_ADD, CMP_SWAP -> read();
        case WRITE -> {
          write(i);
          awaitWrite(i);
        }
        case SEND -> {
          send();
          awaitMessage();
        }
      }
    }
    stamps[parameters.iters()] = System.nanoTime();
    int messages = parameters.operation().fetches() ? 1 : 2;
    return LatencyResult.of(stamps, clockNanos(), messages);
  }

  /** Runs the server's side: answers each message with a message. */
  void serve() throws IOException {
    for (int i = 0; i < parameters.total(); i++) {
      switch (parameters.operation()) {
        case READ, FETCH_ADD, CMP_SWAP -> {
          return;
        }
        case WRITE -> {
          awaitWrite(i);
          write(i);
        }
        case SEND -> {
          awaitMessage();
          send();
        }
      }
    }
    while (underWay > 0) {
      underWay -= completions.await("a completion");
    }
  }

  private void read() throws IOException {
    endpoint.addSend(true);
    endpoint.postSends();
    completions.await("the answer");
  }

  /** Posts a WRITE, after waiting for room in the send queue. */
  private void write(int i) throws IOException {
    underWay -=
        underWay < parameters.depth() ? completions.poll("a WRITE") : completions.await("a WRITE");
    endpoint.mark(mark(i));
    endpoint.addSend(true);
    endpoint.postSends();
    underWay++;
  }

  /** Waits by polling memory, because a WRITE raises no completion at its target. */
  private void awaitWrite(int i) throws IOException {
    byte awaited = mark(i);
    while (endpoint.receivedMark() != awaited) {
      completions.spinOnce("the peer's WRITE");
    }
  }

  /** Returns a mark that differs from the previous message's mark and from zero. */
  private static byte mark(int i) {
    return (byte) (i % 127 + 1);
  }

  private void send() throws IOException {
    endpoint.addSend(true);
    endpoint.postSends();
    underWay++;
  }

  private void awaitMessage() throws IOException {
    boolean received = false;
    while (!received) {
      int count = completions.await("the peer's message");
      for (int i = 0; i < count; i++) {
        if (completions.completions().wrId(i) == PerfEndpoint.SENT) {
          underWay--;
        } else {
          received = true;
          endpoint.postReceives(1);
        }
      }
    }
  }

  /** Returns the median time of reading the clock. In some virtual machines a READ is as fast. */
  private static long clockNanos() {
    long[] deltas = new long[CLOCK_READINGS];
    long last = System.nanoTime();
    for (int i = 0; i < CLOCK_READINGS; i++) {
      long now = System.nanoTime();
      deltas[i] = now - last;
      last = now;
    }
    Arrays.sort(deltas);
    return deltas[CLOCK_READINGS / 2];
  }
}
