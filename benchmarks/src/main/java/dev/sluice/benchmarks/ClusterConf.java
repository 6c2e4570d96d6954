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
 * @param provider spark.shuffle.rdma.provider
 * @param further what the user has set, for all shuffles
 */
public record ClusterConf(
    int executors, int cores, long memoryMb, String provider, Map<String, String> further) {
  Map<String, String> of(Shuffle shuffle, Installation installation) {
    Map<String, String> conf = new LinkedHashMap<>();
    conf.put("spark.master", "local-cluster[%d,%d,%d]".formatted(executors, cores, memoryMb));
    conf.put("spark.app.name", "sluice-benchmark");
    conf.put("spark.executor.memory", memoryMb + "m");
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
}
