package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import java.util.List;
import java.util.Random;

/** Running reduce tasks are killed, with an interrupt, ten times in a second. */
final class TasksKilled extends SharedFault {
  private static final int TIMES = 10;
  private static final long PERIOD_MS = 60;

  private int killed;

  TasksKilled() {
    super("tasks-killed", "reduce tasks are killed while they READ, ten in turn", Moment.REDUCE, 0);
  }

  /** A barrier stage is repeated whole when one of its tasks ends. */
  @Override
  public List<String> workloads() {
    return List.of("group-by", "cogroup", "small-blocks");
  }

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
