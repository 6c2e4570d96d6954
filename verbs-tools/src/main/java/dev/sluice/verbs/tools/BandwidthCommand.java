// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command {@code bin/verbs bw}: measures the throughput of messages, as ib_read_bw and its
 * siblings do.
 */
@Command(
    name = "bw",
    description = {
      "Measures bandwidth between a server and a client, which both run this command. The client's"
          + " options count, except that each side has its own device, port and deadline.",
      "MiB/sec are 2^20 bytes a second (perftest calls them MB/sec), Mpps are millions of messages"
          + " a second. The time runs from the first work request to the last completion."
    })
final class BandwidthCommand implements Callable<Integer> {
  private static final int DEFAULT_SIZE = 65536;

  @Spec private CommandSpec spec;
  @Mixin private DeviceOptions device;
  @Mixin private TcpOptions tcp;
  @Mixin private PerfOptions options;

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

  @Override
  public Integer call() throws IOException {
    if (!options.problem().isEmpty()) {
      throw new ParameterException(spec.commandLine(), options.problem());
    }
    new PerfSession(device, tcp)
        .run(
            PerfParameters.Test.BW,
            port -> options.parameters(PerfParameters.Test.BW, DEFAULT_SIZE, durationSeconds, port),
            this::measure,
            endpoint -> new BandwidthRun(endpoint, group).serve());
    return 0;
  }

  private void measure(PerfEndpoint endpoint) throws IOException {
    int most = endpoint.parameters().depth();
    BandwidthRun test = new BandwidthRun(endpoint, Math.clamp(group, 1, most));
    print(endpoint.parameters(), test.measure());
  }

  private void print(PerfParameters parameters, BandwidthRun.Result result) {
    double messageRate = result.messages() / result.seconds() / 1e6;
    double bandwidth = result.mebibytesPerSecond(parameters.size());
    PrintWriter out = spec.commandLine().getOut();
    if (options.json()) {
      out.printf(
          Locale.ROOT,
          "{\"op\":\"%s\",\"completion\":\"%s\",\"bytes\":%d,\"iterations\":%d,"
              + "\"bwAverageMiBPerSecond\":%.2f,\"msgRateMpps\":%.6f}%n",
          parameters.operation().name().toLowerCase(Locale.ROOT),
          parameters.events() ? "events" : "polling",
          parameters.size(),
          result.messages(),
          bandwidth,
          messageRate);
    } else {
      out.printf(
          " %-10s %-14s %-20s %s%n",
          "#bytes", "#iterations", "BW average[MiB/sec]", "MsgRate[Mpps]");
      out.printf(
          Locale.ROOT,
          " %-10d %-14d %-20.2f %.6f%n",
          parameters.size(),
          result.messages(),
          bandwidth,
          messageRate);
    }
  }
}
