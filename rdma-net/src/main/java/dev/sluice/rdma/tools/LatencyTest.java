package dev.sluice.rdma.tools;

import java.io.IOException;
import java.util.Arrays;

/**
 * Sends one message at a time and takes the time of each: of a READ until it is there, of a WRITE
 * or SEND until the peer's answer is, which is two messages. Nothing is allocated for a message.
 * One thread.
 */
final class LatencyTest {
  private static final int CLOCK_READINGS = 1001;

  private final PerfEndpoint endpoint;
  private final PerfParameters parameters;
  private final CompletionWait completions;
  private int underWay;

  LatencyTest(PerfEndpoint endpoint) {
    this.endpoint = endpoint;
    parameters = endpoint.parameters();
    completions = endpoint.completions();
  }

  /** The client's side. */
  LatencyResult measure() throws IOException {
    long[] stamps = new long[parameters.iters() + 1];
    for (int i = 0; i < parameters.total(); i++) {
      if (i >= parameters.warmUp()) {
        stamps[i - parameters.warmUp()] = System.nanoTime();
      }
      switch (parameters.operation()) {
        case READ -> read();
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
    int messages = parameters.operation() == PerfOperation.READ ? 1 : 2;
    return LatencyResult.of(stamps, clockNanos(), messages);
  }

  /** The server's side: answers each message with one. */
  void serve() throws IOException {
    for (int i = 0; i < parameters.total(); i++) {
      switch (parameters.operation()) {
        case READ -> {
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
    completions.await("a READ");
  }

  /** Makes room in the send queue first, which next to always has it. */
  private void write(int i) throws IOException {
    underWay -=
        underWay < parameters.depth() ? completions.poll("a WRITE") : completions.await("a WRITE");
    endpoint.mark(mark(i));
    endpoint.addSend(true);
    endpoint.postSends();
    underWay++;
  }

  /** WRITEs are seen in memory only. */
  private void awaitWrite(int i) throws IOException {
    byte awaited = mark(i);
    while (endpoint.receivedMark() != awaited) {
      completions.spinOnce("the peer's WRITE");
    }
  }

  /** Never what a message of before had, and not the zero that memory starts with. */
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

  /** What reading the clock itself takes, which is as much as a READ on some virtual machines. */
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
