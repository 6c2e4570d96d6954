// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Spark's configuration for executor processes on this machine. It is the same for all shuffles,
 * apart from the settings that choose the shuffle. Commands create it; {@link DriverProcess} passes
 * it to the driver as system properties.
 *
 * @param executors number of executor processes
 * @param cores cores of an executor
 * @param memoryMb heap of an executor, in MiB
 * @param provider value of spark.shuffle.rdma.provider
 * @param further the user's or the benchmark's settings, for all shuffles; they override others
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
    conf.put("spark.jars", installation.programJar().toUri().toString());
    // Otherwise executors on one machine read each other's files, and nothing is transferred.
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
