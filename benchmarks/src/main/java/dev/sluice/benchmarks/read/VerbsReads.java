package dev.sluice.benchmarks.read;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Turns;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * READs by the binding in Java (bin/verbs) beside those of perftest in C, on the same RDMA device,
 * every measurement by fresh processes.
 */
final class VerbsReads {
  /**
   * About two seconds each where the device is soft-RoCE, so that client, server and the device's
   * threads, which share two virtual CPUs there, find their rhythm.
   */
  private static final long BYTES = 500L << 20;

  private static final int LEAST = 64;
  private static final int MOST = 60_000;
  private static final int MOST_LATENCIES = 20_000;

  private final int rounds;
  private final MeasuringTool ours;
  private final MeasuringTool perftest;

  /**
   * @param gidIndex the device's GID that both use
   */
  VerbsReads(int rounds, int gidIndex) {
    this.rounds = rounds;
    ours = MeasuringTool.ours(gidIndex);
    perftest = MeasuringTool.perftest(gidIndex);
  }

  List<Comparison> measure(List<Workload> workloads) throws IOException, InterruptedException {
    List<Comparison> rows = new ArrayList<>();
    for (Workload workload : workloads) {
      System.err.println(workload.name());
      rows.add(row(workload));
    }
    return rows;
  }

  private Comparison row(Workload workload) throws IOException, InterruptedException {
    int count = workload.count(BYTES, LEAST, workload.isLatency() ? MOST_LATENCIES : MOST);
    double[][] values =
        Turns.measure(
            List.of(ours, perftest), 0, rounds, (tool, _) -> tool.measure(workload, count));
    return new Comparison(
        "read-verbs-" + workload.name(),
        workload.isLatency() ? "us" : "MiB/s",
        workload.better(),
        values[0],
        workload.isLatency() ? "ib_read_lat" : "ib_read_bw",
        values[1]);
  }
}
