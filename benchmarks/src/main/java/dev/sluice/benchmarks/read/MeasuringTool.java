package dev.sluice.benchmarks.read;

import dev.sluice.benchmarks.Poll;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A program that measures READs between a server and a client of its own, which are started for
 * every measurement. Used by one thread.
 *
 * @param averageColumn of a line of results: average bandwidth
 */
record MeasuringTool(
    String name, List<String> bandwidthCommand, List<String> latencyCommand, int averageColumn) {
  private static final int TCP_PORT = 18_520;
  private static final long DEADLINE_SECONDS = 90;

  /** On a busy machine perftest's bandwidth is 0.00 now and then. */
  private static final int ATTEMPTS = 3;

  /** Column of the typical latency. */
  private static final int TYPICAL = 4;

  /** ib_read_bw and ib_read_lat. They are told not to mind the CPU's clock. */
  static MeasuringTool perftest(int gidIndex) {
    String gid = Integer.toString(gidIndex);
    return new MeasuringTool(
        "perftest",
        List.of("ib_read_bw", "-F", "-x", gid),
        List.of("ib_read_lat", "-F", "-x", gid),
        3);
  }

  /** bin/verbs. */
  static MeasuringTool ours(int gidIndex) {
    return new MeasuringTool("bin/verbs", verbs("bw", gidIndex), verbs("lat", gidIndex), 2);
  }

  private static List<String> verbs(String measurement, int gidIndex) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:+UseSerialGC",
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        System.getenv("SLUICE_TOOLS_CLASSPATH"),
        "dev.sluice.rdma.tools.VerbsCommand",
        measurement,
        "--op",
        "read",
        "-g",
        Integer.toString(gidIndex));
  }

  /** Average bandwidth in MiB/s, or typical latency in microseconds, of so many READs. */
  double measure(Workload workload, int count) throws IOException, InterruptedException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      double value = measureOnce(workload, count);
      if (value > 0) {
        return value;
      }
    }
    throw new IOException(name + " measured nothing, " + ATTEMPTS + " times");
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
    Poll.until(DEADLINE_SECONDS * 1_000, () -> isListening() || !server.isAlive());
    if (!isListening()) {
      throw new IOException(name + " does not listen: " + Files.readString(log));
    }
  }

  /** By the kernel's tables: a server takes one connection only. */
  private static boolean isListening() throws IOException {
    return isListening("tcp") || isListening("tcp6");
  }

  private static boolean isListening(String table) throws IOException {
    Path path = Path.of("/proc/net", table);
    String pattern = ".*:%04X [0-9A-F:]+ 0A .*".formatted(TCP_PORT);
    return Files.exists(path)
        && Files.readAllLines(path).stream().anyMatch(line -> line.matches(pattern));
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

  private double value(String output, Workload workload, int count) throws IOException {
    String start = workload.bytes() + " " + count + " ";
    for (String line : output.lines().toList()) {
      String values = line.strip().replaceAll("\\s+", " ");
      if (values.startsWith(start)) {
        return Double.parseDouble(
            values.split(" ")[workload.isLatency() ? TYPICAL : averageColumn]);
      }
    }
    throw new IOException(name + " printed no result: " + output);
  }
}
