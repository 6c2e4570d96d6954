// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.account;

import dev.sluice.spark.RdmaShuffleManager;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.apache.spark.executor.ShuffleReadMetrics;
import org.apache.spark.shuffle.ShuffleManager;

/** Reads the counters of a driver's shuffle manager. */
public final class ManagerTotals {
  /** An executor reports again 10 s after a report that failed. */
  private static final Duration SETTLE_TIMEOUT = Duration.ofSeconds(30);

  private ManagerTotals() {}

  /** The present counters; empty for the stock manager. */
  public static Totals of(ShuffleManager manager) {
    return manager instanceof RdmaShuffleManager rdma ? new Totals(rdma.totals()) : Totals.NONE;
  }

  /** Counts a task's blocks as the manager does: a merged chunk counts as one block. */
  public static long blocks(ShuffleReadMetrics read) {
    return read.totalBlocksFetched()
        - read.remoteMergedBlocksFetched()
        + read.remoteMergedChunksFetched();
  }

  /**
   * Waits until the executors' counters have arrived, a little after their tasks end. Does not wait
   * if the manager is not Sluice's.
   *
   * @param blocks how many were read, summed over all tasks by {@link #blocks}
   * @return the counters then, or at the deadline
   */
  public static Totals settled(ShuffleManager manager, long blocks) {
    long deadline = System.nanoTime() + SETTLE_TIMEOUT.toNanos();
    Totals totals = of(manager);
    while (manager instanceof RdmaShuffleManager
        && !SparkEnv.get().conf().get("spark.shuffle.rdma.provider", "auto").equals("off")
        && totals.blocks() < blocks
        && System.nanoTime() - deadline < 0) {
      try {
        TimeUnit.MILLISECONDS.sleep(50);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return totals;
      }
      totals = of(manager);
    }
    return totals;
  }
}
