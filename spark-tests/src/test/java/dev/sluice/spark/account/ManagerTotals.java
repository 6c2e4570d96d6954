package dev.sluice.spark.account;

import dev.sluice.spark.RdmaShuffleManager;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.apache.spark.executor.ShuffleReadMetrics;
import org.apache.spark.shuffle.ShuffleManager;

/** Reads what a driver's shuffle manager counted. */
public final class ManagerTotals {
  private static final Duration SETTLE_TIMEOUT = Duration.ofSeconds(10);

  private ManagerTotals() {}

  /** What is counted now; nothing for the stock manager. */
  public static Totals of(ShuffleManager manager) {
    return manager instanceof RdmaShuffleManager rdma ? new Totals(rdma.totals()) : Totals.NONE;
  }

  /** A task's blocks as the manager counts them: what comes merged in a chunk is one. */
  public static long blocks(ShuffleReadMetrics read) {
    return read.totalBlocksFetched()
        - read.remoteMergedBlocksFetched()
        + read.remoteMergedChunksFetched();
  }

  /**
   * Waits until the executors' counters have arrived, which is a little after their tasks' ends, as
   * far as the manager is ours and counts.
   *
   * @param blocks how many have been read by what {@link #blocks} says of each task
   * @return what is counted then, or at the deadline
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
