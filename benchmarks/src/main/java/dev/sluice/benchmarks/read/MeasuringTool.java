// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.read;

import dev.sluice.benchmarks.VerbsTool;
import dev.sluice.benchmarks.read.Workload.Operation;
import dev.sluice.testkit.Commands;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A program that measures an operation between a server and a client process, both started for each
 * measurement and ended with it. {@link ReadCommand} uses it on its thread: all measurements have
 * the same TCP port.
 */
enum MeasuringTool {
  /** The tools of bin/verbs. */
  OURS(2) {
    @Override
    List<String> program(Workload workload, int gidIndex) {
      return VerbsTool.command(
          List.of(
              workload.isLatency() ? "lat" : "bw",
              "--op",
              workload.operation().label(),
              "-g",
              Integer.toString(gidIndex)));
    }
  },

  /** Perftest's programs, such as ib_read_bw; -F makes them ignore the CPU's clock. */
  PERFTEST(3) {
    @Override
    List<String> program(Workload workload, int gidIndex) {
      Operation operation = workload.operation();
      String suffix = workload.isLatency() ? "_lat" : "_bw";
      List<String> program = new ArrayList<>(List.of("ib_" + operation.label() + suffix));
      program.addAll(List.of("-F", "-x", Integer.toString(gidIndex)));
      program.addAll(workload.isLatency() ? operation.latencyOptions() : List.of());
      return program;
    }
  };

  /** Port of the server process; not the programs' default, 18515. */
  private static final int TCP_PORT = 18_520;

  private static final long DEADLINE_SECONDS = 90;

  /** Number of attempts: on a busy machine perftest sometimes reports 0.00 or inf. */
  private static final int ATTEMPTS = 3;

  /** Results of printf(3) for a division by a clock rate that perftest measured as 0. */
  private static final Set<String> NOT_COMPUTED = Set.of("inf", "nan", "-nan");

  /** Column of the typical latency, which is the same in both programs. */
  private static final int TYPICAL = 4;

  /** Column of the average bandwidth in a line of results. */
  private final int averageColumn;

  MeasuringTool(int averageColumn) {
    this.averageColumn = averageColumn;
  }

  /** Returns the start of a command line. */
  abstract List<String> program(Workload workload, int gidIndex);

  /** Average bandwidth in MiB/s, or typical latency in microseconds, of so many messages. */
  double measure(Workload workload, int count, int gidIndex)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(program(workload, gidIndex));
    command.addAll(List.of("-p", "" + TCP_PORT, "-s", "" + workload.bytes(), "-n", "" + count));
    if (!workload.isLatency()) {
      command.addAll(List.of("-t", "" + workload.inFlight()));
    }
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      double value = value(output(command), workload, count);
      if (value > 0) {
        return value;
      }
    }
    throw new IOException(this + " reported a result of 0 in " + ATTEMPTS + " attempts");
  }

  /** Returns the output of a client to which a server with the same options answers. */
  private static String output(List<String> command) throws IOException, InterruptedException {
    List<String> client = new ArrayList<>(command);
    client.add("localhost");
    Process server = Commands.start(command);
    try {
      VerbsTool.awaitListening(List.of(server), TCP_PORT, 1, DEADLINE_SECONDS);
      String output = Commands.output(client, DEADLINE_SECONDS);
      Commands.await(server, command);
      return output;
    } finally {
      server.destroyForcibly();
    }
  }

  /** Returns the figure in a program's output; 0 if the program could not compute it. */
  double value(String output, Workload workload, int count) throws IOException {
    String start = workload.bytes() + " " + count + " ";
    for (String line : output.lines().toList()) {
      String values = line.strip().replaceAll("\\s+", " ");
      if (values.startsWith(start)) {
        String value = values.split(" ")[workload.isLatency() ? TYPICAL : averageColumn];
        return NOT_COMPUTED.contains(value) ? 0 : Double.parseDouble(value);
      }
    }
    throw new IOException(this + " printed no result: " + output);
  }
}
