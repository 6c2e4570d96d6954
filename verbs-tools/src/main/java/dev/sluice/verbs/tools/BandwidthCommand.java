// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.ibv.IbvWcArray;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code bin/verbs bw}: measures throughput, as ib_read_bw and its siblings do. {@link
 * PerfCommand} calls it on the command's daemon thread.
 */
@Command(
    name = "bw",
    description = {
      "Measures bandwidth between a server and a client, which both run this command. The client's"
          + " options count, except that each side has its own device, port and deadline.",
      "MiB/sec are 2^20 bytes a second (perftest calls them MB/sec), Mpps are millions of messages"
          + " a second. The time runs from the first work request to the last completion."
    })
final class BandwidthCommand extends PerfCommand {
  private static final double MIB = 1 << 20;

  @Option(
      names = {"-D", "--duration"},
      paramLabel = "SECONDS",
      description = "Measure for this time instead of a number of messages")
  private int durationSeconds;

  @Option(
      names = {"-Q", "--cq-mod"},
      paramLabel = "MESSAGES",
      description = "Request one completion per this many messages (default: ${DEFAULT-VALUE})")
  private int group = 1;

  BandwidthCommand() {
    super(PerfParameters.Test.BW);
  }

  @Override
  void measure(PerfEndpoint endpoint) throws IOException {
    PerfParameters parameters = endpoint.parameters();
    group = Math.clamp(group, 1, parameters.depth());
    transfer(endpoint, parameters.warmUp(), Long.MAX_VALUE);
    long start = System.nanoTime();
    boolean timed = durationSeconds > 0;
    long limitNanos = timed ? TimeUnit.SECONDS.toNanos(durationSeconds) : Long.MAX_VALUE;
    int messages = transfer(endpoint, timed ? Integer.MAX_VALUE : parameters.iters(), limitNanos);
    long nanos = System.nanoTime() - start;
    if (parameters.operation() == PerfParameters.Operation.SEND) {
      endpoint.addLastSend();
      endpoint.postSends();
      endpoint.completions().await("the last SEND");
    }
    double seconds = (double) nanos / TimeUnit.SECONDS.toNanos(1);
    print(
        parameters,
        " #bytes     #iterations    BW average[MiB/sec]  MsgRate[Mpps]%n"
            + " %-10d %-14d %-20.2f %.6f%n",
        "\"bytes\":%d,\"iterations\":%d,\"bwAverageMiBPerSecond\":%.2f,\"msgRateMpps\":%.6f",
        parameters.size(),
        messages,
        (double) messages * parameters.size() / seconds / MIB,
        messages / seconds / 1e6);
  }

  /**
   * Keeps the send queue full and counts completions. Posts work requests in lists; one request per
   * group is signaled. Allocates nothing per message.
   *
   * @param limitNanos time after which no further group begins
   * @return number of messages transferred
   */
  private int transfer(PerfEndpoint endpoint, int messages, long limitNanos) throws IOException {
    String awaited = "a " + endpoint.parameters().operation();
    long start = System.nanoTime();
    int target = messages;
    int posted = 0;
    int completed = 0;
    while (completed < target) {
      posted = post(endpoint, posted, completed, target);
      int count = endpoint.completions().await(awaited);
      completed = Math.min(completed + count * group, target);
      if (limitNanos != Long.MAX_VALUE && System.nanoTime() - start > limitNanos) {
        target = (posted + group - 1) / group * group;
      }
    }
    return target;
  }

  /** Fills the send queue. Returns the number of messages posted so far. */
  private int post(PerfEndpoint endpoint, int alreadyPosted, int completed, int target)
      throws IOException {
    int posted = alreadyPosted;
    while (posted < target && posted - completed < endpoint.parameters().depth()) {
      posted++;
      endpoint.addSend(posted % group == 0 || posted == target);
    }
    endpoint.postSends();
    return posted;
  }

  /** Receives SENDs. The server has no part in the other operations. */
  @Override
  void serve(PerfEndpoint endpoint) throws IOException {
    CompletionWait completions = endpoint.completions();
    boolean last = endpoint.parameters().operation() != PerfParameters.Operation.SEND;
    while (!last) {
      int count = completions.await("a message");
      for (int i = 0; i < count; i++) {
        last |= (completions.completions().flags(i) & IbvWcArray.Flags.WITH_IMM) != 0;
      }
      endpoint.postReceives(count);
    }
  }
}
