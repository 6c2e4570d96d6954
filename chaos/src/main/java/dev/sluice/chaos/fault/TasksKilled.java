// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import java.util.List;
import java.util.Random;

/**
 * Kills running reduce tasks, with an interrupt, ten times within a second. The driver's main
 * thread does so; there is nothing to heal, as Spark starts killed tasks again.
 */
final class TasksKilled implements FaultAction {
  private static final int TIMES = 10;
  private static final long PERIOD_MS = 60;

  private int killed;

  @Override
  public void strike(Cluster cluster, Random random) throws InterruptedException {
    killed = 0;
    for (int i = 0; i < TIMES; i++) {
      List<Long> running = cluster.stages().runningTasks();
      if (!running.isEmpty()) {
        cluster.kill(running.get(random.nextInt(running.size())));
        killed++;
      }
      Thread.sleep(PERIOD_MS);
    }
  }

  @Override
  public boolean hasStruck(Cluster cluster, boolean inTime) {
    return killed > 0;
  }
}
