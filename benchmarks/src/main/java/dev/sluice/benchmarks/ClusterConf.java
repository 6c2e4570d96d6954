package dev.sluice.benchmarks;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Spark's configuration for executor processes on this machine: the same for all shuffles but for
 * what chooses one.
 *
 * @param executors executor processes
 * @param cores cores of an executor
 * @param memoryMb heap of an executor
 * @param shuffleBytes what the job's map outputs take in all
 * @param provider spark.shuffle.rdma.provider
 * @param further what the user has set, for all shuffles
 */
public record ClusterConf(
    int executors,
    int cores,
    long memoryMb,
    long shuffleBytes,
    String provider,
    Map<String, String> further) {
  private static final long MB = 1_000_000;

  Map<String, String> of(Shuffle shuffle, Installation installation) {
    Map<String, String> conf = new LinkedHashMap<>();
    conf.put("spark.master", "local-cluster[%d,%d,%d]".formatted(executors, cores, memoryMb));
    conf.put("spark.app.name", "sluice-benchmark");
    conf.put("spark.executor.memory", memoryMb + "m");
    conf.put("spark.executor.memoryOverhead", memoryOverheadMb() + "m");
    conf.put("spark.driver.host", "127.0.0.1");
    conf.put("spark.driver.bindAddress", "127.0.0.1");
    conf.put("spark.ui.enabled", "false");
    conf.put("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    conf.put("spark.jars", installation.benchmarksJar().toUri().toString());
    // Executors of one machine would read each other's files, and nothing would be transferred.
    conf.put("spark.shuffle.readHostLocalDisk", "false");
    if (shuffle == Shuffle.SLUICE) {
      conf.put("spark.executor.extraClassPath", installation.sluiceJar().toString());
      conf.put("spark.shuffle.manager", "dev.sluice.spark.RdmaShuffleManager");
      conf.put("spark.shuffle.rdma.provider", provider);
    }
    conf.putAll(further);
    return conf;
  }

  /**
   * Map outputs may take five sixteenths of the memory overhead (docs/deployment.md): four times an
   * executor's part of the data leaves room for one that runs more than its part of the map tasks.
   */
  public long memoryOverheadMb() {
    return 1024 + 4 * Math.ceilDiv(shuffleBytes, executors * MB);
  }
}
