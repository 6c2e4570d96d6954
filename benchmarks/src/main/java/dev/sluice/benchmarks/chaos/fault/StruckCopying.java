package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.ReadLimit;
import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.cluster.ExecutorProcess;
import dev.sluice.benchmarks.chaos.inject.Injection;
import java.util.Map;
import java.util.Random;

/**
 * SIGSTOP for longer than a lease, or the end, of an executor that copies for a peer, from a slow
 * disk; with the stock shuffle of one that reads.
 */
final class StruckCopying extends SharedFault {
  private final Injection event;
  private final Evidence evidence;
  private final SlowDisk disk = new SlowDisk();
  private final ExecutorStopped stopped = new ExecutorStopped(7);

  private StruckCopying(
      String name, String what, Injection event, int stageRetries, int lostExecutors) {
    super(name, what, Moment.REDUCE, stageRetries, lostExecutors);
    this.event = event;
    this.evidence = Evidence.of(event);
  }

  static StruckCopying stopped() {
    return new StruckCopying(
        "stopped-copying", "SIGSTOP while it copies", Injection.STOP_COPYING, 0, 0);
  }

  static StruckCopying killed() {
    return new StruckCopying(
        "killed-copying",
        "kill -9 while it copies",
        Injection.HALT_COPYING,
        ExecutorKilled.STAGE_RETRIES,
        1);
  }

  private boolean kills() {
    return lostExecutors() > 0;
  }

  @Override
  public String unavailable(String provider) {
    return ReadLimit.unavailable();
  }

  @Override
  public int delayMs(Random random) {
    return 0; // What was asked for before is copied from memory.
  }

  @Override
  public long lastsMs() {
    return stopped.lastsMs();
  }

  @Override
  public void prepare(Cluster cluster, Random random) throws Exception {
    evidence.begin(cluster);
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    ExecutorProcess victim = cluster.any(random);
    disk.slowDown(cluster, victim.pid());
    if (cluster.isSluice()) {
      cluster.order(Map.of(event, 1.0), random.nextLong(), victim.pid());
    } else if (kills()) {
      victim.kill();
    } else {
      stopped.strike(cluster, random);
    }
  }

  @Override
  public boolean hasStruck(Cluster cluster, boolean inTime) throws Exception {
    if (kills()) {
      return cluster.stages().lostExecutors() > 0;
    }
    return cluster.isSluice() ? evidence.hasGrown(cluster) : inTime;
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    disk.heal();
    cluster.order(Map.of(), 0, 0);
    stopped.heal(cluster);
  }
}
