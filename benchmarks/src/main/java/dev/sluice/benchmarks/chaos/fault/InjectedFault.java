package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.Cluster;
import dev.sluice.benchmarks.chaos.inject.Injection;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;

/** What the executors do to themselves: only Sluice can notice it, and no stage may be repeated. */
final class InjectedFault extends Fault {
  private final Map<Injection, Double> rates;
  private final Map<String, String> settings;

  InjectedFault(String name, String what, Map<Injection, Double> rates) {
    this(name, what, rates, Map.of());
  }

  InjectedFault(
      String name, String what, Map<Injection, Double> rates, Map<String, String> settings) {
    super(name, what, Moment.BEFORE);
    this.rates = rates;
    this.settings = settings;
  }

  @Override
  public boolean isInjected() {
    return true;
  }

  @Override
  public Map<String, String> settings(Path directory) {
    return settings;
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    cluster.order(rates, random.nextLong(), 0);
  }
}
