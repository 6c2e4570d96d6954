// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command {@code bin/verbs lat}: measures the latency of a message, as ib_read_lat and its
 * siblings do. {@code bin/bench} reads the names in its JSON.
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
final class LatencyCommand implements Callable<Integer> {
  private static final int DEFAULT_SIZE = 2;
  private static final double NANOS_PER_MICRO = 1000;

  @Spec private CommandSpec spec;
  @Mixin private DeviceOptions device;
  @Mixin private TcpOptions tcp;
  @Mixin private PerfOptions options;

  @Override
  public Integer call() throws IOException {
    if (options.events() && options.operation() == PerfOperation.WRITE) {
      throw new ParameterException(
          spec.commandLine(),
          "--events cannot be used with --op write: a WRITE raises no event at its target");
    }
    if (!options.problem().isEmpty()) {
      throw new ParameterException(spec.commandLine(), options.problem());
    }
    new PerfSession(device, tcp)
        .run(
            PerfParameters.Test.LAT,
            port -> options.parameters(PerfParameters.Test.LAT, DEFAULT_SIZE, 0, port),
            endpoint -> print(endpoint.parameters(), new LatencyRun(endpoint).measure()),
            endpoint -> new LatencyRun(endpoint).serve());
    return 0;
  }

  private void print(PerfParameters parameters, LatencyResult result) {
    PrintWriter out = spec.commandLine().getOut();
    if (!options.json()) {
      out.printf(
          " %-9s %-12s %-12s %-12s %-16s %-12s %-14s %-10s %-10s %s%n",
          "#bytes",
          "#iterations",
          "t_min[usec]",
          "t_max[usec]",
          "t_typical[usec]",
          "t_avg[usec]",
          "t_stdev[usec]",
          "99%[usec]",
          "99.9%[usec]",
          "clock[usec]");
    }
    out.printf(
        Locale.ROOT,
        options.json()
            ? "{\"op\":\"%11$s\",\"completion\":\"%12$s\",\"bytes\":%1$d,\"iterations\":%2$d,"
                + "\"minUsec\":%3$.2f,\"maxUsec\":%4$.2f,\"typicalUsec\":%5$.2f,"
                + "\"averageUsec\":%6$.2f,\"stdevUsec\":%7$.2f,\"p99Usec\":%8$.2f,"
                + "\"p999Usec\":%9$.2f,\"clockUsec\":%10$.2f}%n"
            : " %-9d %-12d %-12.2f %-12.2f %-16.2f %-12.2f %-14.2f %-10.2f %-11.2f %.2f%n",
        parameters.size(),
        result.count(),
        result.min() / NANOS_PER_MICRO,
        result.max() / NANOS_PER_MICRO,
        result.typical() / NANOS_PER_MICRO,
        result.average() / NANOS_PER_MICRO,
        result.deviation() / NANOS_PER_MICRO,
        result.p99() / NANOS_PER_MICRO,
        result.p999() / NANOS_PER_MICRO,
        result.clock() / NANOS_PER_MICRO,
        parameters.operation().name().toLowerCase(Locale.ROOT),
        parameters.events() ? "events" : "polling");
  }
}
