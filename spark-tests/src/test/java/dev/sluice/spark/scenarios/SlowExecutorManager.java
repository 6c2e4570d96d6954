// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import dev.sluice.spark.RdmaShuffleManager;
import org.apache.spark.SparkConf;

/**
 * Sluice's shuffle manager, with a software device that answers each READ late in one executor. A
 * test sets it as {@code spark.shuffle.manager}; Spark creates and stops it in driver and
 * executors.
 */
public final class SlowExecutorManager extends RdmaShuffleManager {
  /** Id of the executor that is slow. */
  static final String SLOW = "3";

  private static final String FAULTS = "delay=1:500";

  public SlowExecutorManager(SparkConf conf, boolean isDriver) {
    super(faulty(conf), isDriver);
  }

  /** Changes the configuration of this process alone. */
  private static SparkConf faulty(SparkConf conf) {
    return conf.get("spark.executor.id", "").equals(SLOW)
        ? conf.set("spark.shuffle.rdma.soft.faults", FAULTS)
        : conf;
  }
}
