// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import java.io.IOException;
import java.util.Arrays;
import picocli.CommandLine.Command;

/**
 * The command {@code bin/verbs lat}: measures the latency of a message, as ib_read_lat and its
 * siblings do. {@link PerfCommand} calls it on the command's daemon thread. {@code bin/bench row}
 * reads the names in its JSON.
 */
@Command(
    name = "lat",
    description = {
      "Measures latency between a server and a client, which both run this command. The client's"
          + " options count, except that each side has its own device, port and deadline.",
      "Sends one message at a time and prints microseconds: of a READ or atomic until its data"
          + " have arrived, of a WRITE or SEND half the round trip. Typical is the median. The time"
          + " to read the clock is subtracted, and printed."
    })
final class LatencyCommand extends PerfCommand {
  private static final double NANOS_PER_MICRO = 1000;

  /** An odd number, so that there is one median. */
  private static final int CLOCK_READINGS = 1001;

  /** Number of sent messages whose completion was not taken yet. */
  private int underWay;

  /**
   * Latencies of one message in nanoseconds, without the time of reading the clock.
   *
   * @param sorted latency of each measured message, the shortest first
   * @param clock the time of reading the clock that was subtracted
   */
  record Result(double[] sorted, long clock) {
    /**
     * @param stamps nanoseconds: the start of each iteration, and the end of the last iteration
     * @param clockNanos time between two adjacent readings of the clock
     * @param messages number of messages in an iteration
     */
    static Result of(long[] stamps, long clockNanos, int messages) {
      double[] latencies = new double[stamps.length - 1];
      for (int i = 0; i < latencies.length; i++) {
        latencies[i] = (double) (stamps[i + 1] - stamps[i] - clockNanos) / messages;
      }
      Arrays.sort(latencies);
      return new Result(latencies, clockNanos);
    }

    double average() {
      return Arrays.stream(sorted).average().orElseThrow();
    }

    double deviation() {
      double average = average();
      return Math.sqrt(
          Arrays.stream(sorted).map(l -> (l - average) * (l - average)).average().orElseThrow());
    }

    /** Returns the latency that a share of the messages does not exceed, from 0 to 1. */
    double percentile(double share) {
      return sorted[Math.min((int) (sorted.length * share), sorted.length - 1)];
    }
  }

  LatencyCommand() {
    super(PerfParameters.Test.LAT);
  }

  @Override
  void measure(PerfEndpoint endpoint) throws IOException {
    Result result = latencies(endpoint);
    print(
        endpoint.parameters(),
        " #bytes    #iterations  t_min[usec]  t_max[usec]  t_typical[usec]  t_avg[usec] "
            + " t_stdev[usec]  99%%[usec]  99.9%%[usec] clock[usec]%n"
            + " %-9d %-12d %-12.2f %-12.2f %-16.2f %-12.2f %-14.2f %-10.2f %-11.2f %.2f%n",
        "\"bytes\":%d,\"iterations\":%d,\"minUsec\":%.2f,\"maxUsec\":%.2f,\"typicalUsec\":%.2f,"
            + "\"averageUsec\":%.2f,\"stdevUsec\":%.2f,\"p99Usec\":%.2f,\"p999Usec\":%.2f,"
            + "\"clockUsec\":%.2f",
        endpoint.parameters().size(),
        result.sorted().length,
        result.percentile(0) / NANOS_PER_MICRO,
        result.percentile(1) / NANOS_PER_MICRO,
        result.percentile(0.5) / NANOS_PER_MICRO,
        result.average() / NANOS_PER_MICRO,
        result.deviation() / NANOS_PER_MICRO,
        result.percentile(0.99) / NANOS_PER_MICRO,
        result.percentile(0.999) / NANOS_PER_MICRO,
        result.clock() / NANOS_PER_MICRO);
  }

  /**
   * Sends one message at a time and measures the time of each. A READ or atomic ends when its data
   * arrive. A WRITE or SEND ends when the peer's answer arrives, so it counts as two messages.
   * Allocates nothing per message.
   */
  Result latencies(PerfEndpoint endpoint) throws IOException {
    PerfParameters parameters = endpoint.parameters();
    long[] stamps = new long[parameters.iters() + 1];
    for (int i = 0; i < parameters.total(); i++) {
      if (i >= parameters.warmUp()) {
        stamps[i - parameters.warmUp()] = System.nanoTime();
      }
      post(endpoint, i);
      awaitAnswer(endpoint, i);
    }
    stamps[parameters.iters()] = System.nanoTime();
    int messages = parameters.operation().fetches() ? 1 : 2;
    return Result.of(stamps, clockNanos(), messages);
  }

  /** Answers each message with a message. The server has no part in READs and atomics. */
  @Override
  void serve(PerfEndpoint endpoint) throws IOException {
    PerfParameters parameters = endpoint.parameters();
    for (int i = 0; !parameters.operation().fetches() && i < parameters.total(); i++) {
      awaitAnswer(endpoint, i);
      post(endpoint, i);
    }
    while (underWay > 0) {
      underWay -= endpoint.completions().await("a completion");
    }
  }

  /** Posts a message, a WRITE after waiting for room in the send queue. */
  private void post(PerfEndpoint endpoint, int i) throws IOException {
    CompletionWait completions = endpoint.completions();
    if (endpoint.parameters().operation() == PerfParameters.Operation.WRITE) {
      boolean room = underWay < endpoint.parameters().depth();
      underWay -= room ? completions.poll("a WRITE") : completions.await("a WRITE");
      endpoint.mark(mark(i));
    }
    endpoint.postSend();
    underWay++;
  }

  /** Waits for the data that a message fetches, or for the peer's message. */
  private void awaitAnswer(PerfEndpoint endpoint, int i) throws IOException {
    switch (endpoint.parameters().operation()) {
      case READ, FETCH_ADD, CMP_SWAP -> underWay -= endpoint.completions().await("the answer");
      case WRITE -> awaitWrite(endpoint, i);
      case SEND -> awaitMessage(endpoint);
    }
  }

  /** Waits by polling memory, because a WRITE raises no completion at its target. */
  private static void awaitWrite(PerfEndpoint endpoint, int i) throws IOException {
    byte awaited = mark(i);
    while (endpoint.receivedMark() != awaited) {
      endpoint.completions().spinOnce("the peer's WRITE");
    }
  }

  /** Returns a mark that differs from the previous message's mark and from zero. */
  private static byte mark(int i) {
    return (byte) (i % 127 + 1);
  }

  private void awaitMessage(PerfEndpoint endpoint) throws IOException {
    CompletionWait completions = endpoint.completions();
    boolean received = false;
    while (!received) {
      int count = completions.await("the peer's message");
      for (int i = 0; i < count; i++) {
        if (completions.wrId(i) == PerfEndpoint.SENT) {
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
