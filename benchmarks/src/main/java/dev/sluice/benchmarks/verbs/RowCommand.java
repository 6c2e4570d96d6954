// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.verbs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.verbs.HardwareRow.RowColumn;
import dev.sluice.testkit.Commands;
import dev.sluice.testkit.Spread;
import dev.sluice.testkit.VerbsTool;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code bin/bench row}: prints this machine's row of docs/dev/hardware-rows.md. */
@Command(
    name = "row",
    description = {
      "Print a row for the table of docs/dev/hardware-rows.md",
      "The row describes this machine, and READs from the server that bin/verbs bw and lat measure."
          + " Start this command without SERVER to be the server. A question mark stands for an"
          + " unknown fact; the standard error names these facts."
    })
public final class RowCommand implements Callable<Integer> {
  /** Bytes of a TeraGen record. */
  private static final int RECORD_BYTES = 100;

  /** Limit for a process of bin/verbs; its own deadline ends it earlier. */
  private static final long PATIENCE_SECONDS = 3_600;

  /** Measurements in the order of their ports, which server and client must agree on. */
  private static final List<Size> SIZES =
      List.of(
          new Size("bw", 64 << 10, RowColumn.READ_64_KIB),
          new Size("bw", 1 << 20, RowColumn.READ_1_MIB),
          new Size("lat", 2, RowColumn.READ_2_B));

  /** READs of so many bytes by a command of bin/verbs. */
  private record Size(String command, int bytes, RowColumn column) {}

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "SERVER",
      description = "Host of the server; without it, be the server and wait for a client")
  private @Nullable String server;

  @Option(
      names = {"-p", "--port"},
      paramLabel = "PORT",
      description = "First of three TCP ports of the server (default: ${DEFAULT-VALUE})")
  private int port = 18515;

  @Option(
      names = {"-d", "--ib-dev"},
      paramLabel = "DEVICE",
      description = "RDMA device (default: the first one)")
  private @Nullable String device;

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "N",
      description = "Port of the device, from 1 (default: ${DEFAULT-VALUE})")
  private int devicePort = 1;

  @Option(
      names = {"-g", "--gid-index"},
      paramLabel = "NUMBER",
      description =
          "Index of this side's GID in the port's table (default: the choice of bin/verbs)")
  private @Nullable Integer gidIndex;

  @Option(
      names = {"-l", "--sl"},
      paramLabel = "NUMBER",
      description = "InfiniBand service level, 0 to 15 (default: ${DEFAULT-VALUE})")
  private int serviceLevel;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "N",
      description =
          "READs of each size; as many, but at most 5000, warm up before (default:"
              + " ${DEFAULT-VALUE})")
  private int iters = 2000;

  @Option(
      names = {"-e", "--events"},
      description = "Sleep on completion events (default: poll)")
  private boolean events;

  @Option(
      names = "--terasort",
      paramLabel = "FILE",
      description = "File that bin/terasort --json wrote (default: no figure of TeraSort)")
  private @Nullable Path teraSort;

  @Option(
      names = "--timeout",
      paramLabel = "N",
      description =
          "Seconds after which a server or a measurement gives up (default: ${DEFAULT-VALUE})")
  private int timeoutSeconds = 60;

  @Override
  public Integer call() throws InterruptedException {
    try {
      if (server == null) {
        serve();
      } else {
        print(row(server));
      }
      return 0;
    } catch (IOException e) {
      spec.commandLine().getErr().println("bin/bench row: " + e.getMessage());
      return 1;
    }
  }

  /** Serves one client, by a process of bin/verbs for each size. */
  private void serve() throws IOException, InterruptedException {
    List<Process> servers = new ArrayList<>();
    try {
      for (Size size : SIZES) {
        servers.add(Commands.start(command(size)));
      }
      int ports = SIZES.size();
      VerbsTool.awaitListening(servers, port, ports, PATIENCE_SECONDS);
      spec.commandLine().getErr().printf("listening on ports %d to %d%n", port, port + ports - 1);
      for (int i = 0; i < ports; i++) {
        Commands.await(servers.get(i), command(SIZES.get(i)), PATIENCE_SECONDS);
      }
    } finally {
      servers.forEach(Process::destroyForcibly);
    }
  }

  private HardwareRow row(String host) throws IOException {
    boolean isLocal = NetworkInterface.getByInetAddress(InetAddress.getByName(host)) != null;
    HardwareRow row =
        new HardwareRow()
            .with(RowColumn.TERASORT, teraSort == null ? "" : teraSort(teraSort))
            .withFacts(device, devicePort)
            .with(RowColumn.HOSTS, isLocal ? "1" : "2");
    for (Size size : SIZES) {
      List<String> client = command(size);
      client.addAll(List.of("--json", "-s", "" + size.bytes, "-n", "" + iters, host));
      if (events) {
        client.add("-e");
      }
      row.with(size.column, cell(Commands.output(client, PATIENCE_SECONDS)));
    }
    return row;
  }

  /** Returns the command line of either side, to which the client adds. */
  private List<String> command(Size size) {
    List<String> arguments = new ArrayList<>(List.of(size.command));
    arguments.addAll(List.of("-p", "" + (port + SIZES.indexOf(size)), "-i", "" + devicePort));
    arguments.addAll(List.of("-l", "" + serviceLevel, "--timeout", "" + timeoutSeconds));
    if (device != null) {
      arguments.addAll(List.of("-d", device));
    }
    if (gidIndex != null) {
      arguments.addAll(List.of("-g", "" + gidIndex));
    }
    return VerbsTool.command(arguments);
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

  private void print(HardwareRow row) {
    spec.commandLine().getOut().println(row.markdown());
    List<String> unknown = row.unknown();
    if (!unknown.isEmpty()) {
      spec.commandLine().getErr().println("Unknown facts: " + String.join("; ", unknown));
    }
  }

  /**
   * Returns size, provider and medians, such as {@code 1.0 GB by verbs: 20.1 s, stock 22.4 s}.
   *
   * @param file file that {@code TeraSortReport} wrote
   * @throws IOException if the file cannot be read, has another format, or has no valid result
   */
  static String teraSort(Path file) throws IOException {
    JsonNode json = new ObjectMapper().readTree(file.toFile());
    double sluice = median(json.path("sluice_s"));
    double stock = median(json.path("stock_s"));
    if (!json.path("valid").asBoolean() || Double.isNaN(sluice + stock)) {
      throw new IOException(file + " has no valid sort by bin/terasort --json with both shuffles");
    }
    return String.format(
        Locale.ROOT,
        "%.1f GB by %s: %.1f s, stock %.1f s",
        json.path("records").asLong() * RECORD_BYTES / 1e9,
        json.path("provider").asText(),
        sluice,
        stock);
  }

  private static double median(JsonNode list) {
    return Spread.median(
        StreamSupport.stream(list.spliterator(), false).mapToDouble(JsonNode::asDouble).toArray());
  }
}
