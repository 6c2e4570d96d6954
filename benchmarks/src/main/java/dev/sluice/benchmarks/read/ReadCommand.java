package dev.sluice.benchmarks.read;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.ComparisonOutput;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** READs of many sizes, a few and many under way, each beside its partner in turn. */
@Command(
    name = "read",
    sortOptions = false,
    description = {
      "READs of many sizes and depths, beside a plain socket or perftest",
      "On soft beside a socket; on verbs beside ib_read_bw and ib_read_lat, which needs",
      "perftest and a device (bin/with-verbs).",
      "One READ at a time is its latency, less is better; more are a bandwidth."
    })
public final class ReadCommand implements Callable<Integer> {
  private static final int QUICK_ROUNDS = 5;

  /** What can be READ by, with what is measured unless the user says otherwise. */
  enum Through {
    SOFT(9, Grid.SOFT, Grid.SOFT_QUICK),
    VERBS(7, Grid.VERBS, Grid.VERBS_QUICK);

    private final int rounds;
    private final Grid full;
    private final Grid quick;

    Through(int rounds, Grid full, Grid quick) {
      this.rounds = rounds;
      this.full = full;
      this.quick = quick;
    }
  }

  private record Grid(List<Integer> sizes, List<Integer> depths) {
    private static final int K = 1 << 10;
    private static final int M = 1 << 20;
    static final Grid SOFT =
        new Grid(List.of(16, 256, 4 * K, 64 * K, 256 * K, M, 8 * M), List.of(1, 8, 64, 256));
    static final Grid SOFT_QUICK = new Grid(List.of(16, 4 * K, 64 * K, M), List.of(1, 8, 64));
    static final Grid VERBS =
        new Grid(List.of(16, 4 * K, 64 * K, 256 * K, M, 8 * M), List.of(1, 8, 64));
    static final Grid VERBS_QUICK = new Grid(List.of(16, 64 * K, M), List.of(1, 64));
  }

  @Option(
      names = "--provider",
      defaultValue = "soft",
      description = "soft or verbs (default: ${DEFAULT-VALUE})")
  private Through provider;

  @Option(names = "--rounds", description = "Measurements of each (default: soft 9, verbs 7)")
  private Integer rounds;

  @Option(names = "--quick", description = "Fewer sizes, depths and rounds: two to four minutes")
  private boolean quick;

  @Option(
      names = "--gid-index",
      defaultValue = "1",
      description = {
        "On verbs, the device's GID that both use (default: ${DEFAULT-VALUE},",
        "in the test bed that of its IPv4 address)"
      })
  private int gidIndex;

  @Mixin private ComparisonOutput output;

  @Override
  public Integer call() throws IOException, InterruptedException {
    return output.write(measure());
  }

  private List<Comparison> measure() throws IOException, InterruptedException {
    Grid grid = quick ? provider.quick : provider.full;
    List<Workload> workloads = Workload.grid(grid.sizes(), grid.depths());
    int count = rounds != null ? rounds : quick ? QUICK_ROUNDS : provider.rounds;
    return switch (provider) {
      case SOFT -> new SoftReads(count).measure(workloads);
      case VERBS -> new VerbsReads(count, gidIndex).measure(workloads);
    };
  }
}
