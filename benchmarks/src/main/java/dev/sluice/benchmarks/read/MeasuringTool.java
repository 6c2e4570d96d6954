// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.read;

import dev.sluice.benchmarks.VerbsTool;
import dev.sluice.benchmarks.read.Workload.Operation;
import dev.sluice.testkit.Poll;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A program that measures an operation between a server and a client process, both started for each
 * measurement and ended with it. {@link ReadCommand} uses it on its thread: all measurements have
 * the same TCP port.
 *
 * @param averageColumn column of the average bandwidth in a line of results
 */
record MeasuringTool(
    String name, List<String> bandwidthCommand, List<String> latencyCommand, int averageColumn) {
  /** Port of the server process; not the programs' default, 18515. */
  private static final int TCP_PORT = 18_520;

  private static final long DEADLINE_SECONDS = 90;

  /** Number of attempts: on a busy machine perftest sometimes reports 0.00 or inf. */
  private static final int ATTEMPTS = 3;

  /** Results of printf(3) for a division by a clock rate that perftest measured as 0. */
  private static final Set<String> NOT_COMPUTED = Set.of("inf", "nan", "-nan");

  /** Column of the typical latency, which is the same in both programs. */
  private static final int TYPICAL = 4;

  /** Returns perftest's programs, such as ib_read_bw; -F makes them ignore the CPU's clock. */
  static MeasuringTool perftest(Operation operation, int gidIndex) {
    String program = "ib_" + operation.label();
    List<String> options = List.of("-F", "-x", Integer.toString(gidIndex));
    List<String> latency = new ArrayList<>(List.of(program + "_lat"));
    latency.addAll(options);
    latency.addAll(operation.latencyOptions());
    List<String> bandwidth = new ArrayList<>(List.of(program + "_bw"));
    bandwidth.addAll(options);
    return new MeasuringTool("perftest", bandwidth, latency, 3);
  }

  /** Returns the tool of bin/verbs. */
  static MeasuringTool ours(Operation operation, int gidIndex) {
    return new MeasuringTool(
        "bin/verbs", verbs("bw", operation, gidIndex), verbs("lat", operation, gidIndex), 2);
  }

  private static List<String> verbs(String measurement, Operation operation, int gidIndex) {
    return VerbsTool.command(
        List.of(measurement, "--op", operation.label(), "-g", Integer.toString(gidIndex)));
  }

  /** Average bandwidth in MiB/s, or typical latency in microseconds, of so many messages. */
  double measure(Workload workload, int count) throws IOException, InterruptedException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      double value = measureOnce(workload, count);
      if (value > 0) {
        return value;
      }
    }
    throw new IOException(name + " reported a result of 0 in " + ATTEMPTS + " attempts");
  }

  private double measureOnce(Workload workload, int count)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(workload.isLatency() ? latencyCommand : bandwidthCommand);
    command.addAll(List.of("-p", "" + TCP_PORT));
    command.addAll(List.of("-s", "" + workload.bytes(), "-n", "" + count));
    if (!workload.isLatency()) {
      command.addAll(List.of("-t", "" + workload.inFlight()));
    }
    Path serverLog = Files.createTempFile("sluice-server", ".log");
    Path clientLog = Files.createTempFile("sluice-client", ".log");
    Process server = start(command, serverLog);
    try {
      awaitListening(server, serverLog);
      command.add("localhost");
      end(start(command, clientLog), clientLog);
      end(server, serverLog);
      return value(Files.readString(clientLog, StandardCharsets.UTF_8), workload, count);
    } finally {
      server.destroyForcibly();
      Files.delete(serverLog);
      Files.delete(clientLog);
    }
  }

  private static Process start(List<String> command, Path log) throws IOException {
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(log.toFile())
        .start();
  }

  private void awaitListening(Process server, Path log) throws IOException, InterruptedException {
    Poll.until(
        DEADLINE_SECONDS * 1_000, () -> VerbsTool.isListening(TCP_PORT) || !server.isAlive());
    if (!VerbsTool.isListening(TCP_PORT)) {
      throw new IOException(
          name + " does not listen on port " + TCP_PORT + ": " + Files.readString(log));
    }
  }

  private void end(Process process, Path log) throws IOException, InterruptedException {
    try {
      if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IOException(name + " failed: " + Files.readString(log));
      }
    } finally {
      process.destroyForcibly();
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
    throw new IOException(name + " printed no result: " + output);
  }
}
