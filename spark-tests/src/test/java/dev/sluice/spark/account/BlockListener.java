// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.account;

import org.apache.spark.SparkEnv;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.shuffle.ShuffleManager;

/**
 * Notes the counters of the shuffle manager for {@link BlockAccount} at the end of every
 * application. Spark makes one listener for each context (spark.extraListeners) and calls it on its
 * listener thread. {@code SparkContext.stop} waits for that thread before it stops the manager. The
 * executors are told to stop meanwhile, and send their last reports then.
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
