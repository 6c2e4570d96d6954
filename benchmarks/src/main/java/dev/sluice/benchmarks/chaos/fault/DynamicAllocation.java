package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.Cluster;
import dev.sluice.benchmarks.chaos.ExecutorProcess;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Executors come and go by themselves, and one is removed. */
final class DynamicAllocation extends ExecutorLeaving {
  private final boolean service;

  DynamicAllocation(boolean service) {
    super(
        service ? "allocation-service" : "allocation-tracking",
        "dynamic allocation with "
            + (service ? "the external shuffle service" : "shuffle tracking")
            + ", an executor removed");
    this.service = service;
  }

  @Override
  public Map<String, String> settings(Path directory) throws IOException {
    Map<String, String> settings =
        new HashMap<>(
            Map.of(
                "spark.dynamicAllocation.enabled", "true",
                "spark.dynamicAllocation.minExecutors", "3",
                "spark.dynamicAllocation.initialExecutors", "3",
                "spark.dynamicAllocation.maxExecutors", "3",
                "spark.dynamicAllocation.executorIdleTimeout", "2s",
                "spark.dynamicAllocation.schedulerBacklogTimeout", "1s",
                "spark.executor.cores", "2"));
    if (service) {
      try (ServerSocket free = new ServerSocket(0)) {
        settings.put("spark.shuffle.service.port", Integer.toString(free.getLocalPort()));
      }
      settings.put("spark.shuffle.service.enabled", "true");
      // One worker, and so one service, for all executors.
      settings.put("spark.master", "local-cluster[1,6,3072]");
    } else {
      settings.put("spark.dynamicAllocation.shuffleTracking.enabled", "true");
      settings.put("spark.dynamicAllocation.shuffleTracking.timeout", "3s");
    }
    return settings;
  }

  @Override
  void send(ExecutorProcess executor, Cluster cluster) {
    cluster.remove(executor);
  }
}
