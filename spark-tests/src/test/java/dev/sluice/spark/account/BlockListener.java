package dev.sluice.spark.account;

import org.apache.spark.SparkEnv;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.shuffle.ShuffleManager;

/**
 * Notes at the end of every application what its shuffle manager counted, for {@link BlockAccount}.
 * Spark makes one for each context (spark.extraListeners) and calls it on its listener thread,
 * which {@code SparkContext.stop} waits for before it stops the manager. The executors are told to
 * stop meanwhile, and report then.
 */
public final class BlockListener extends SparkListener {
  private long blocks;

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    if (end.taskMetrics() != null) {
      blocks += ManagerTotals.blocks(end.taskMetrics().shuffleReadMetrics());
    }
  }

  @Override
  public void onApplicationEnd(SparkListenerApplicationEnd end) {
    ShuffleManager manager = SparkEnv.get().shuffleManager();
    BlockAccount.note(manager.getClass().getName(), ManagerTotals.settled(manager, blocks));
  }
}
