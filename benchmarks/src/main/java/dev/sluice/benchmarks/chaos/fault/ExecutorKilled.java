package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import java.util.Random;

/** kill -9 of an executor, a while after a stage has begun. */
final class ExecutorKilled extends SharedFault {
  /** The map stage, and the reduce stage that failed; both again when both were under way. */
  static final int STAGE_RETRIES = 4;

  ExecutorKilled(String name, String what, Moment moment) {
    super(name, what, moment, STAGE_RETRIES, 1);
  }

  @Override
  public void strike(Cluster cluster, Random random) {
    cluster.any(random).kill();
  }
}
