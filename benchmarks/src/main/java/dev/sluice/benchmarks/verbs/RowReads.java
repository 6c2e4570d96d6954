// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.verbs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.verbs.HardwareRow.RowColumn;
import dev.sluice.testkit.Commands;
import dev.sluice.testkit.VerbsTool;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Measures READs between two machines by bin/verbs, with a process on either side for each size.
 * The processes print their errors. {@link RowCommand} uses it on its thread; a method ends the
 * processes that it has started.
 *
 * @param options options of each process: device, port and deadline
 * @param firstPort TCP port of the first size; each further size uses the next port
 */
record RowReads(List<String> options, int firstPort) {
  /** Limit for a process; the deadline of bin/verbs ends it earlier. */
  private static final long PATIENCE_SECONDS = 3_600;

  /** Measurements in the order of their ports, which server and client must agree on. */
  private static final List<Size> SIZES =
      List.of(
          new Size("bw", 64 << 10, RowColumn.READ_64_KIB),
          new Size("bw", 1 << 20, RowColumn.READ_1_MIB),
          new Size("lat", 2, RowColumn.READ_2_B));

  /** READs of so many bytes by a command of bin/verbs. */
  private record Size(String command, int bytes, RowColumn column) {}

  /**
   * Serves one client.
   *
   * @param log gets a line when the client may start
   */
  void serve(PrintWriter log) throws IOException, InterruptedException {
    List<Process> servers = new ArrayList<>();
    try {
      for (Size size : SIZES) {
        servers.add(Commands.start(command(size)));
      }
      int ports = SIZES.size();
      VerbsTool.awaitListening(servers, firstPort, ports, PATIENCE_SECONDS);
      log.printf("listening on ports %d to %d%n", firstPort, firstPort + ports - 1);
      for (int i = 0; i < ports; i++) {
        Commands.await(servers.get(i), command(SIZES.get(i)), TimeUnit.HOURS.toSeconds(1));
      }
    } finally {
      servers.forEach(Process::destroyForcibly);
    }
  }

  /**
   * Measures each size.
   *
   * @param reads number of READs of each size
   * @param events true if both sides sleep on completion events
   */
  void measure(String server, int reads, boolean events, HardwareRow row) throws IOException {
    for (Size size : SIZES) {
      List<String> client = command(size);
      client.addAll(List.of("--json", "-s", "" + size.bytes, "-n", "" + reads, server));
      if (events) {
        client.add("-e");
      }
      row.with(size.column, cell(Commands.output(client, PATIENCE_SECONDS)));
    }
  }

  /** Returns MiB/s, or the median and 99th percentile of latencies in microseconds. */
  static String cell(String json) throws IOException {
    JsonNode result = new ObjectMapper().readTree(json);
    return result.has("typicalUsec")
        ? String.format(
            Locale.ROOT,
            "%.1f, 99%%: %.1f",
            result.get("typicalUsec").asDouble(),
            result.get("p99Usec").asDouble())
        : String.format(Locale.ROOT, "%.0f", result.get("bwAverageMiBPerSecond").asDouble());
  }

  private List<String> command(Size size) {
    List<String> arguments = new ArrayList<>(List.of(size.command, "-p"));
    arguments.add(Integer.toString(firstPort + SIZES.indexOf(size)));
    arguments.addAll(options);
    return VerbsTool.command(arguments);
  }
}
