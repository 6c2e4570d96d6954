package dev.sluice.benchmarks.terasort;

import dev.sluice.benchmarks.Installation;
import java.util.LinkedHashMap;
import java.util.Map;

/** Spark's configuration for a sort: the same for both shuffles but for what switches Sluice on. */
final class SortConf {
  private static final long MB = 1_000_000;

  private final Installation installation;
  private final TeraSortCommand options;

  SortConf(Installation installation, TeraSortCommand options) {
    this.installation = installation;
    this.options = options;
  }

  Map<String, String> of(Shuffle shuffle) {
    return shuffle == Shuffle.SLUICE ? sluice() : stock();
  }

  private Map<String, String> stock() {
    Map<String, String> conf = new LinkedHashMap<>();
    long memoryMb = options.memory / MB;
    conf.put(
        "spark.master",
        "local-cluster[%d,%d,%d]".formatted(options.executors, options.cores, memoryMb));
    conf.put("spark.app.name", "terasort");
    conf.put("spark.executor.memory", memoryMb + "m");
    conf.put("spark.executor.memoryOverhead", memoryOverheadMb() + "m");
    conf.put("spark.driver.host", "127.0.0.1");
    conf.put("spark.driver.bindAddress", "127.0.0.1");
    conf.put("spark.ui.enabled", "false");
    conf.put("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    conf.put("spark.jars", installation.benchmarksJar().toUri().toString());
    // Executors of one machine would read each other's files, and nothing would be transferred.
    conf.put("spark.shuffle.readHostLocalDisk", "false");
    conf.putAll(options.conf);
    return conf;
  }

  private Map<String, String> sluice() {
    Map<String, String> conf = stock();
    conf.put("spark.shuffle.manager", "dev.sluice.spark.RdmaShuffleManager");
    conf.put("spark.executor.extraClassPath", installation.sluiceJar().toString());
    conf.putIfAbsent("spark.shuffle.rdma.provider", options.provider);
    return conf;
  }

  /**
   * Registered map outputs and the buffer pool have to fit into a share of the memory overhead:
   * twice an executor's part of the data, and as much as Spark asks for at most on its own.
   */
  private long memoryOverheadMb() {
    return 1024 + 2 * Math.ceilDiv(options.size, options.executors * MB);
  }
}
