package dev.sluice.benchmarks.read;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Pairs;
import java.io.IOException;
import java.util.Collection;
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

  /** The one and the other in turn, round by round. */
  Collection<Comparison> measure(List<Workload> workloads)
      throws IOException, InterruptedException {
    Pairs pairs = new Pairs();
    for (Workload workload : workloads) {
      System.err.println(workload.name());
      for (int round = 0; round < rounds; round++) {
        measure(workload, round % 2 == 0, pairs);
      }
    }
    return pairs.comparisons();
  }

  private void measure(Workload workload, boolean oursFirst, Pairs pairs)
      throws IOException, InterruptedException {
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
