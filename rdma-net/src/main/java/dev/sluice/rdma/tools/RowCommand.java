package dev.sluice.rdma.tools;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures READs as bw and lat do, and prints a row for the table in docs/hardware.md. */
@Command(
    name = "row",
    description = {
      "Prints a row for the table of docs/hardware.md: what this machine has, and how fast it READs"
          + " from the server, which is this command as well, without SERVER.",
      "What could not be found out is a question mark, and is named on the standard error."
    })
final class RowCommand implements Callable<Integer> {
  private static final int SMALL = 2;
  private static final int MEDIUM = 64 << 10;
  private static final int LARGE = 1 << 20;
  private static final double NANOS_PER_MICRO = 1000;

  @Spec private CommandSpec spec;
  @Mixin private DeviceOptions device;
  @Mixin private TcpOptions tcp;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "READS",
      description = "READs of each size, after as many to warm up (default: ${DEFAULT-VALUE})")
  private int iters = 2000;

  @Option(
      names = {"-e", "--events"},
      description = "Sleep on completion events (default: poll)")
  private boolean events;

  @Option(
      names = "--terasort",
      paramLabel = "FILE",
      description = "What bin/terasort --json FILE has written (default: no figure of TeraSort)")
  private Path teraSort;

  @Override
  public Integer call() throws IOException {
    if (iters <= 0) {
      throw new ParameterException(spec.commandLine(), "--iters must be positive");
    }
    HardwareRow row = new HardwareRow();
    if (teraSort != null) {
      row.with(RowColumn.TERASORT, TeraSortResult.summary(teraSort));
    }
    PerfSession.open(device, tcp, session -> measure(session, row));
    if (tcp.isClient()) {
      print(row);
    }
    return 0;
  }

  private void measure(PerfSession session, HardwareRow row) throws IOException {
    new RowFacts(session.port()).addTo(row);
    row.with(RowColumn.HOSTS, session.peer().isLocal() ? "1" : "2");
    bandwidth(session, MEDIUM, row, RowColumn.READ_64_KIB);
    bandwidth(session, LARGE, row, RowColumn.READ_1_MIB);
    session.run(
        PerfParameters.Test.LAT,
        port -> PerfParameters.ofReads(PerfParameters.Test.LAT, SMALL, iters, events, port),
        endpoint -> row.with(RowColumn.READ_2_B, text(new LatencyTest(endpoint).measure())),
        endpoint -> new LatencyTest(endpoint).serve());
  }

  private void bandwidth(PerfSession session, int size, HardwareRow row, RowColumn column)
      throws IOException {
    session.run(
        PerfParameters.Test.BW,
        port -> PerfParameters.ofReads(PerfParameters.Test.BW, size, iters, events, port),
        endpoint -> {
          BandwidthTest.Result result = new BandwidthTest(endpoint, 1).measure();
          row.with(column, String.format(Locale.ROOT, "%.0f", result.mebibytesPerSecond(size)));
        },
        endpoint -> new BandwidthTest(endpoint, 1).serve());
  }

  private static String text(LatencyResult result) {
    return String.format(
        Locale.ROOT,
        "%.1f, 99%%: %.1f",
        result.typical() / NANOS_PER_MICRO,
        result.p99() / NANOS_PER_MICRO);
  }

  private void print(HardwareRow row) {
    spec.commandLine().getOut().println(row.markdown());
    List<String> unknown = row.unknown();
    if (!unknown.isEmpty()) {
      spec.commandLine().getErr().println("Not found out: " + String.join("; ", unknown));
    }
  }
}
