package dev.sluice.benchmarks.read;

import dev.sluice.benchmarks.ComparisonOutput;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** READs of many sizes, one and many under way, each beside its partner in turn. */
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

  @Option(
      names = "--rounds",
      defaultValue = "7",
      description = "Measurements of each (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Option(names = "--quick", description = "Fewer sizes and depths")
  private boolean quick;

  @Option(
      names = "--gid-index",
      defaultValue = "1",
      description = {
        "The device's GID that both use (default: ${DEFAULT-VALUE},",
        "in the test bed that of its IPv4 address)"
      })
  private int gidIndex;

  @Mixin private ComparisonOutput output;

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<Workload> workloads =
        quick
            ? Workload.grid(List.of(16, 64 * K, M), List.of(1, 64))
            : Workload.grid(List.of(16, 4 * K, 64 * K, 256 * K, M, 8 * M), List.of(1, 8, 64));
    return output.write(new VerbsReads(rounds, gidIndex).measure(workloads));
  }
}
