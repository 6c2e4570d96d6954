package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.inject.Injection;
import java.util.Map;
import java.util.Random;

/**
 * An executor ends, as by kill -9, at an event of Sluice's; the stock shuffle, which has no such
 * event, loses one while it reads.
 */
final class KilledAtEvent extends SharedFault {
  private final Map<Injection, Double> rates;

  /**
   * @param rates the event at which the victim ends, and what makes it likely
   */
  KilledAtEvent(String name, String what, Map<Injection, Double> rates) {
    super(name, what, Moment.REDUCE, ExecutorKilled.STAGE_RETRIES, 1);
    this.rates = rates;
  }

  @Override
  public void prepare(Cluster cluster, Random random) throws Exception {
    cluster.order(rates, random.nextLong(), cluster.any(random).pid());
  }

  @Override
  public void strike(Cluster cluster, Random random) {
    if (!cluster.isSluice()) {
      cluster.any(random).kill();
    }
  }

  @Override
  public boolean hasStruck(Cluster cluster, boolean inTime) {
    return cluster.stages().lostExecutors() > 0;
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    cluster.order(Map.of(), 0, 0);
  }
}
