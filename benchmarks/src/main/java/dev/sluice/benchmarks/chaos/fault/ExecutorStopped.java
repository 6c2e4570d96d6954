package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.cluster.ExecutorProcess;
import java.util.List;
import java.util.Random;

/** SIGSTOP of an executor for some seconds: its connections stay, and nobody answers. */
final class ExecutorStopped extends SharedFault {
  private final int seconds;
  private ExecutorProcess victim;

  ExecutorStopped(int seconds) {
    super(
        "stopped-" + seconds + "s",
        "SIGSTOP of an executor for " + seconds + " s",
        Moment.REDUCE,
        // Spark itself may take an executor for lost that is silent for two minutes.
        seconds > 60 ? 4 : 0,
        seconds > 60 ? 1 : 0);
    this.seconds = seconds;
  }

  @Override
  public long lastsMs() {
    return seconds * 1_000L;
  }

  @Override
  public List<String> workloads() {
    return List.of("group-by", "skewed-join", "small-blocks");
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    victim = cluster.any(random);
    victim.signal("STOP");
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    if (victim != null) {
      victim.signal("CONT");
      victim = null;
    }
  }
}
