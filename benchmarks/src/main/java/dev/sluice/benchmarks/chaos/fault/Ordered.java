package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.inject.Injection;
import java.util.Map;
import java.util.Random;

/**
 * What executors do to themselves, or what is wrong with them from their start: only Sluice can
 * notice it, and no stage may be repeated.
 *
 * @param rates of what they do; empty for what is there by their settings
 * @param evidence that it has happened
 */
record Ordered(Map<Injection, Double> rates, Evidence evidence) implements Blow {
  @Override
  public void prepare(Cluster cluster, Random random) throws Exception {
    evidence.begin(cluster);
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    cluster.order(rates, random.nextLong(), 0);
  }

  @Override
  public boolean hasStruck(Cluster cluster, boolean inTime) throws Exception {
    return evidence.hasGrown(cluster);
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    cluster.orderNothing();
  }
}
