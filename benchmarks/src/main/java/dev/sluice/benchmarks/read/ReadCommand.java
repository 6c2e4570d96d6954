package dev.sluice.benchmarks.read;

import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.Pairs;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * READs of many sizes, one and many under way, by the binding in Java (bin/verbs) beside those of
 * perftest in C, in turn on the same RDMA device, every measurement by fresh processes.
 */
@Command(
    name = "read",
    sortOptions = false,
    description = {
      "READs on an RDMA device, beside ib_read_bw and ib_read_lat",
      "Of many sizes and depths; needs perftest and a device (bin/with-verbs).",
      "One READ at a time is its latency, less is better; more are a bandwidth."
    })
public final class ReadCommand implements Callable<Integer> {
  private static final int K = 1 << 10;
  private static final int M = 1 << 20;

  /**
   * About two seconds each where the device is soft-RoCE, so that client, server and the device's
   * threads, which share two virtual CPUs there, find their rhythm.
   */
  private static final long BYTES = 500L << 20;

  private static final int LEAST = 64;
  private static final int MOST = 60_000;
  private static final int MOST_LATENCIES = 20_000;

  @Option(names = "--rounds", description = "Measurements of each (default: ${DEFAULT-VALUE})")
  private int rounds = 7;

  @Option(names = "--quick", description = "Fewer sizes and depths")
  private boolean quick;

  @Option(
      names = "--gid-index",
      description = {
        "The device's GID that both use (default: ${DEFAULT-VALUE},",
        "in the test bed that of its IPv4 address)"
      })
  private int gidIndex = 1;

  @Mixin private ComparisonOutput output;

  private final Pairs pairs = new Pairs();

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<Workload> workloads =
        quick
            ? Workload.grid(List.of(16, 64 * K, M), List.of(1, 64))
            : Workload.grid(List.of(16, 4 * K, 64 * K, 256 * K, M, 8 * M), List.of(1, 8, 64));
    for (Workload workload : workloads) {
      System.err.println(workload.name());
      for (int round = 0; round < rounds; round++) {
        measure(workload, round % 2 == 0);
      }
    }
    return output.write(pairs.comparisons());
  }

  private void measure(Workload workload, boolean oursFirst)
      throws IOException, InterruptedException {
    MeasuringTool ours = MeasuringTool.ours(gidIndex);
    MeasuringTool perftest = MeasuringTool.perftest(gidIndex);
    boolean isLatency = workload.isLatency();
    int count = Math.clamp(BYTES / workload.bytes(), LEAST, isLatency ? MOST_LATENCIES : MOST);
    double first = (oursFirst ? ours : perftest).measure(workload, count);
    double second = (oursFirst ? perftest : ours).measure(workload, count);
    double own = oursFirst ? first : second;
    double other = oursFirst ? second : first;
    String name = "read-verbs-" + workload.name();
    if (isLatency) {
      pairs.less(name, "us", own, "ib_read_lat", other);
    } else {
      pairs.more(name, "MiB/s", own, "ib_read_bw", other);
    }
  }
}
