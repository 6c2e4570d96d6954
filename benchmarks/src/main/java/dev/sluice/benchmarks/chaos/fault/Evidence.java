package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.inject.Injection;

/** What tells that a fault has struck: a number of the executors that run, which grows by it. */
@FunctionalInterface
public interface Evidence {
  /** Spark has lost one. */
  Evidence LOST_EXECUTORS = cluster -> cluster.stages().lostExecutors();

  /** What it is now. */
  long in(Cluster cluster) throws Exception;

  /** It was made to go wrong. */
  static Evidence of(Injection injection) {
    return cluster -> cluster.hits(injection);
  }

  /**
   * Sluice has counted it.
   *
   * @param counter as its metrics name it
   */
  static Evidence of(String counter) {
    return cluster -> cluster.counted(counter);
  }
}
