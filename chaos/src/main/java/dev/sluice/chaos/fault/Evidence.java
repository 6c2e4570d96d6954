// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.chaos.inject.Injection;

/**
 * Evidence that a fault has struck: a number over the running executors that grows by it. The
 * driver's main thread reads it before the strike and after the job.
 */
@FunctionalInterface
public interface Evidence {
  /** Number of executors that Spark has lost. */
  Evidence LOST_EXECUTORS = cluster -> cluster.stages().lostExecutors();

  /** Returns the present value. */
  long in(Cluster cluster) throws Exception;

  /** Returns the number of times that the injection acted. */
  static Evidence of(Injection injection) {
    return cluster -> cluster.hits(injection);
  }

  /**
   * Returns a counter of Sluice.
   *
   * @param counter name of the counter in Sluice's metrics
   */
  static Evidence of(String counter) {
    return cluster -> cluster.counted(counter);
  }
}
