package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.inject.Injection;

/**
 * What tells that a fault has struck: a number of the executors that grows by it. Used by the
 * thread of the runs.
 */
final class Evidence {
  private final Count count;
  private long before;

  /** Asks the executors that run now. */
  @FunctionalInterface
  private interface Count {
    long in(Cluster cluster) throws Exception;
  }

  private Evidence(Count count) {
    this.count = count;
  }

  /** It was made to go wrong. */
  static Evidence of(Injection injection) {
    return new Evidence(cluster -> cluster.hits(injection));
  }

  /**
   * Sluice has counted it.
   *
   * @param counter as its metrics name it
   */
  static Evidence of(String counter) {
    return new Evidence(cluster -> cluster.counted(counter));
  }

  /** Spark has lost one. */
  static Evidence ofLostExecutors() {
    return new Evidence(cluster -> cluster.stages().lostExecutors());
  }

  void begin(Cluster cluster) throws Exception {
    before = count.in(cluster);
  }

  boolean hasGrown(Cluster cluster) throws Exception {
    return count.in(cluster) > before;
  }
}
