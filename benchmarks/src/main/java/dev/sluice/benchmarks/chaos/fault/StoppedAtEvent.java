package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.inject.Injection;
import java.util.Map;
import java.util.Random;

/**
 * SIGSTOP of an executor at an event of Sluice's, longer than a lease; with the stock shuffle,
 * which has no such event, of one that reads.
 */
final class StoppedAtEvent extends SharedFault {
  private final Injection event;
  private final double rate;
  private final Evidence evidence;
  private final ExecutorStopped stopped = new ExecutorStopped(7);

  /**
   * @param rate how likely each such event is the one
   */
  StoppedAtEvent(String name, String what, Injection event, double rate) {
    super(name, what, Moment.REDUCE, 0);
    this.event = event;
    this.rate = rate;
    this.evidence = Evidence.of(event);
  }

  @Override
  public long lastsMs() {
    return stopped.lastsMs();
  }

  @Override
  public void prepare(Cluster cluster, Random random) throws Exception {
    evidence.begin(cluster);
    cluster.order(Map.of(event, rate), random.nextLong(), cluster.any(random).pid());
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    if (!cluster.isSluice()) {
      stopped.strike(cluster, random);
    }
  }

  @Override
  public boolean hasStruck(Cluster cluster, boolean inTime) throws Exception {
    return cluster.isSluice() ? evidence.hasGrown(cluster) : inTime;
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    cluster.order(Map.of(), 0, 0);
    stopped.heal(cluster);
  }
}
