package dev.sluice.spark.account;

import dev.sluice.spark.RdmaShuffleManager;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.spark.shuffle.ShuffleManager;

/** Reads what a driver's shuffle manager counted. */
public final class ManagerTotals {
  private static final Duration SETTLE_TIMEOUT = Duration.ofSeconds(10);

  private ManagerTotals() {}

  /** What is counted now; nothing for the stock manager. */
  public static Totals of(ShuffleManager manager) {
    return manager instanceof RdmaShuffleManager rdma ? new Totals(rdma.totals()) : Totals.NONE;
  }

  /**
   * Waits until the executors' counters have arrived, which is a little after their tasks' ends, as
   * far as the manager is ours.
   *
   * @param blocks how many Spark's task metrics say have been read
   * @return what is counted then, or at the deadline
   */
  public static Totals settled(ShuffleManager manager, long blocks) {
    long deadline = System.nanoTime() + SETTLE_TIMEOUT.toNanos();
    Totals totals = of(manager);
    while (manager instanceof RdmaShuffleManager
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
