package dev.sluice.benchmarks.storm;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Storms without goals: around one of each workload of one shuffle, what differs from it in one
 * thing.
 */
final class StormGrid {
  private static final int BLOCK_BYTES = 1200;
  private static final int SMALL_BLOCK_BYTES = 200;
  private static final int LARGE_BLOCK_BYTES = 12_000;

  private static final Set<Workload> WORKLOADS =
      EnumSet.complementOf(
          EnumSet.of(Workload.RDD_COGROUP, Workload.RDD_JOIN, Workload.RDD_ITERATIVE));

  private StormGrid() {}

  static List<StormCase> cases() {
    List<StormCase> cases = new ArrayList<>();
    for (Workload workload : WORKLOADS) {
      boolean compressed = workload.compressed();
      cases.add(StormCase.of(workload, 400, 400, BLOCK_BYTES));
      cases.add(StormCase.of(workload, 400, 400, SMALL_BLOCK_BYTES));
      cases.add(StormCase.of(workload, 400, 400, LARGE_BLOCK_BYTES));
      cases.add(new StormCase(workload, 400, 400, BLOCK_BYTES, !compressed, false, false));
      cases.add(new StormCase(workload, 400, 400, BLOCK_BYTES, compressed, true, false));
      cases.add(StormCase.of(workload, 1000, 1000, SMALL_BLOCK_BYTES));
      cases.add(StormCase.of(workload, 1000, 1000, BLOCK_BYTES));
    }
    return cases;
  }
}
