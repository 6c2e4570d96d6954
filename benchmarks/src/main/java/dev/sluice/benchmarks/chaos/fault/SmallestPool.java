package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.Cluster;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** 64 tasks share the smallest pools of buffers that can be configured. */
final class SmallestPool extends Fault {
  SmallestPool() {
    super("smallest-pool", "64 tasks with 1 MB of buffers an executor", Moment.BEFORE);
  }

  @Override
  public Map<String, String> settings(Path directory) {
    return Map.of(
        "spark.master", "local-cluster[2,32,1536]",
        "spark.executor.cores", "32",
        "spark.shuffle.rdma.buffers.maxBytes", "1m");
  }

  @Override
  public List<String> workloads() {
    return List.of("small-blocks");
  }

  @Override
  public void strike(Cluster cluster, Random random) {
    // It is there from the start.
  }
}
