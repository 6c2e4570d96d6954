// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.verbs;

import dev.sluice.benchmarks.Benchmark;
import dev.sluice.benchmarks.verbs.MeasuringTool.Workload;
import dev.sluice.benchmarks.verbs.MeasuringTool.Workload.Operation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code bin/bench read}: READs, WRITEs and SENDs of several sizes and depths, by the
 * Java binding (bin/verbs) against perftest in C. They run in turn on the same RDMA device, in new
 * processes for each measurement, which the main thread awaits.
 */
@Command(
    name = "read",
    sortOptions = false,
    description = {
      "Measure READ, WRITE and SEND on an RDMA device, compared with perftest",
      "READs have many sizes and depths, WRITEs and SENDs some. One message at a time shows"
          + " latency, where less is better; more messages show bandwidth. Needs perftest and a"
          + " device (bin/with-verbs)."
    })
public final class ReadCommand extends Benchmark {
  private static final int K = 1 << 10;
  private static final int M = 1 << 20;

  /**
   * Bytes of a measurement. It takes about two seconds on soft-RoCE: client, server and the
   * device's threads share two virtual CPUs there and need time to settle.
   */
  private static final long BYTES = 500L << 20;

  // Limits of the number of messages in a measurement; the least is the greatest depth.
  private static final int LEAST = 64;
  private static final int MOST = 60_000;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Measurements of each (default: ${DEFAULT-VALUE})")
  private int rounds = 7;

  @Option(names = "--quick", description = "Fewer sizes and depths")
  private boolean quick;

  @Option(
      names = "--gid-index",
      paramLabel = "NUMBER",
      description =
          "Index of the device's GID for both sides (default: ${DEFAULT-VALUE}, in the test bed the"
              + " GID of its IPv4 address)")
  private int gidIndex = 1;

  @Override
  protected void measure(Path directory) throws IOException, InterruptedException {
    List<Workload> workloads = workloads();
    progress.expect(workloads.size());
    for (Workload workload : workloads) {
      progress.begin(workload.name());
      for (int round = 0; round < rounds; round++) {
        measure(workload, round % 2 == 0);
      }
    }
  }

  private List<Workload> workloads() {
    List<Workload> workloads = new ArrayList<>();
    for (Operation operation : Operation.values()) {
      workloads.addAll(
          quick || operation != Operation.READ
              ? Workload.grid(operation, List.of(16, 64 * K, M), List.of(1, 64))
              : Workload.grid(
                  operation, List.of(16, 4 * K, 64 * K, 256 * K, M, 8 * M), List.of(1, 8, 64)));
    }
    return workloads;
  }

  private void measure(Workload workload, boolean oursFirst)
      throws IOException, InterruptedException {
    boolean isLatency = workload.isLatency();
    int most = isLatency ? workload.operation().mostLatencies() : MOST;
    int count = Math.clamp(BYTES / workload.bytes(), LEAST, most);
    double own = oursFirst ? MeasuringTool.OURS.measure(workload, count, gidIndex) : 0;
    double other = MeasuringTool.PERFTEST.measure(workload, count, gidIndex);
    own = oursFirst ? own : MeasuringTool.OURS.measure(workload, count, gidIndex);
    String partner = "ib_" + workload.operation().label();
    if (isLatency) {
      pairs.less(workload.name(), "us", own, partner + "_lat", other);
    } else {
      pairs.more(workload.name(), "MiB/s", own, partner + "_bw", other);
    }
  }
}
