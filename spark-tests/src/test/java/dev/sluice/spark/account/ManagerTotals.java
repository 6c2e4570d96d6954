// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.account;

import dev.sluice.spark.RdmaShuffleManager;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
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
    boolean counts =
        manager instanceof RdmaShuffleManager
            && !SparkEnv.get().conf().get("spark.shuffle.rdma.provider", "auto").equals("off");
    return settled(() -> of(manager), totals -> !counts || totals.blocks() >= blocks);
  }

  /**
   * Waits for the counters of another manager that is built on {@code RdmaShuffle}. It may not
   * count local blocks.
   *
   * @param counters the manager's
   * @param remoteBlocks how many blocks of other executors were read, summed over all tasks
   * @return the counters then, or at the deadline
   */
  public static Totals settled(Supplier<Map<String, Long>> counters, long remoteBlocks) {
    return settled(
        () -> new Totals(counters.get()),
        totals -> totals.read() + totals.fallback() >= remoteBlocks);
  }

  private static Totals settled(Supplier<Totals> present, Predicate<Totals> condition) {
    long deadline = System.nanoTime() + SETTLE_TIMEOUT.toNanos();
    Totals totals = present.get();
    while (!condition.test(totals) && System.nanoTime() - deadline < 0) {
      try {
        TimeUnit.MILLISECONDS.sleep(50);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return totals;
      }
      totals = present.get();
    }
    return totals;
  }
}
