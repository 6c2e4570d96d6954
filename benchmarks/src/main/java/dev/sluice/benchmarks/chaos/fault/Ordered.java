package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.inject.Injection;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * What executors do to themselves, or what is wrong with them from their start: only Sluice can
 * notice it, and no stage may be repeated.
 *
 * @param rates of what they do; empty for what is there by their settings
 */
record Ordered(Map<Injection, Double> rates, List<Evidence> evidence) implements Blow {
  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    cluster.order(rates, random.nextLong(), 0);
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    cluster.orderNothing();
  }
}
