package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.cluster.ExecutorProcess;
import java.util.Random;

/** An executor of a cluster of its own is sent away while reduce tasks read. */
abstract class ExecutorLeaving extends SharedFault {
  private static final long END_MS = 30_000;

  private ExecutorProcess leaving;

  /**
   * @param lostExecutors how many may go at most
   */
  ExecutorLeaving(String name, String what, int lostExecutors) {
    super(name, what, Moment.REDUCE, ExecutorKilled.STAGE_RETRIES, lostExecutors);
  }

  abstract void send(ExecutorProcess executor, Cluster cluster);

  @Override
  public final String cluster() {
    return name();
  }

  @Override
  public final void strike(Cluster cluster, Random random) {
    leaving = cluster.any(random);
    send(leaving, cluster);
  }

  /** Waits until it has gone, so that the next run does not lose it. */
  @Override
  public final void heal(Cluster cluster) throws InterruptedException {
    if (leaving != null) {
      leaving.awaitEnd(END_MS);
    }
  }
}
