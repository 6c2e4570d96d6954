// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tail;

import dev.sluice.spark.RdmaShuffleManager;
import org.apache.spark.SparkConf;

/**
 * Sluice's shuffle manager, with a fault plan for one executor. {@link TailCommand} sets it as
 * {@code spark.shuffle.manager}; Spark creates and stops it in driver and executors.
 */
public final class LateRdmaShuffleManager extends RdmaShuffleManager {
  /** Setting: the executor's fault plan. */
  static final String FAULTS = "spark.sluice.tail.faults";

  /** The executor that has the plan. */
  static final String EXECUTOR = "0";

  private static final String SOFT_FAULTS = "spark.shuffle.rdma.soft.faults";

  public LateRdmaShuffleManager(SparkConf conf, boolean isDriver) {
    super(faulty(conf), isDriver);
  }

  /** Adds the plan to the configuration, which is this process's own. */
  static SparkConf faulty(SparkConf conf) {
    return conf.get("spark.executor.id", "").equals(EXECUTOR) && conf.contains(FAULTS)
        ? conf.set(SOFT_FAULTS, conf.get(FAULTS))
        : conf;
  }
}
