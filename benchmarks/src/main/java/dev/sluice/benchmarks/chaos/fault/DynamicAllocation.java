package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.cluster.ExecutorProcess;
import dev.sluice.benchmarks.chaos.workload.Workload;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.ExternalShuffleService;
import org.apache.spark.internal.config.package$;
import scala.Option;

/** Executors come and go by themselves, and one is removed. */
final class DynamicAllocation extends ExecutorLeaving {
  /** The one that is removed, and those that have been idle. */
  private static final int MOST_LEAVING = 3;

  private final boolean service;
  private final Map<Path, ExternalShuffleService> services = new ConcurrentHashMap<>();

  DynamicAllocation(boolean service) {
    super(
        service ? "allocation-service" : "allocation-tracking",
        "dynamic allocation with "
            + (service ? "the external shuffle service" : "shuffle tracking")
            + ", an executor removed",
        MOST_LEAVING);
    this.service = service;
  }

  /** SPARK-24942. */
  @Override
  public boolean allows(Workload workload) {
    return !workload.name().equals("barrier");
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
      settings.put("spark.shuffle.service.enabled", "true");
      settings.put("spark.shuffle.service.port", Integer.toString(startService(directory)));
      settings.put("spark.master", "local-cluster[1,6,3072]");
    } else {
      settings.put("spark.dynamicAllocation.shuffleTracking.enabled", "true");
      settings.put("spark.dynamicAllocation.shuffleTracking.timeout", "3s");
    }
    return settings;
  }

  /** A local cluster's workers have none. */
  private int startService(Path directory) throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    SparkConf conf =
        new SparkConf()
            .set("spark.shuffle.service.enabled", "true")
            .set("spark.shuffle.service.port", Integer.toString(port))
            .set("spark.local.dir", directory.toString());
    ExternalShuffleService started =
        new ExternalShuffleService(
            conf, new SecurityManager(conf, Option.empty(), package$.MODULE$.AUTH_SECRET_FILE()));
    started.start();
    services.put(directory, started);
    return port;
  }

  @Override
  public void end(Path directory) {
    ExternalShuffleService started = services.remove(directory);
    if (started != null) {
      started.stop();
    }
  }

  @Override
  void send(ExecutorProcess executor, Cluster cluster) {
    cluster.remove(executor);
  }
}
