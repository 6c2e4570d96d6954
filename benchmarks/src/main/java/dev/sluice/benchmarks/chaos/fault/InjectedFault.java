package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.inject.Injection;
import dev.sluice.benchmarks.chaos.workload.Workload;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/** What the executors do to themselves: only Sluice can notice it, and no stage may be repeated. */
final class InjectedFault extends Fault {
  private final Injection injection;
  private final Map<Injection, Double> rates;
  private final Map<String, String> settings;
  private final Evidence evidence;

  InjectedFault(String name, String what, Injection injection, double rate) {
    this(name, what, injection, rate, Map.of(), Map.of());
  }

  /**
   * @param beside what else happens, so that there is something to go wrong
   */
  InjectedFault(
      String name,
      String what,
      Injection injection,
      double rate,
      Map<Injection, Double> beside,
      Map<String, String> settings) {
    super(name, what, Moment.BEFORE);
    this.injection = injection;
    this.rates = new HashMap<>(beside);
    this.rates.put(injection, rate);
    this.settings = settings;
    this.evidence = evidence(injection);
  }

  /** A port that nobody listens on strikes who connects to it. */
  private static Evidence evidence(Injection injection) {
    return injection == Injection.CONTROL_REFUSED
        ? Evidence.of("transfer.connect-failures")
        : Evidence.of(injection);
  }

  @Override
  public String cluster() {
    if (injection.lowersTheBudget()) {
      return name();
    }
    return settings.isEmpty() ? super.cluster() : "set-%x".formatted(settings.hashCode());
  }

  /** Little is registered for a while, and so little fails. */
  @Override
  public boolean spoilsCluster() {
    return injection.lowersTheBudget();
  }

  /** Encrypted blocks have no checksums; what is falsified in them Spark itself has to notice. */
  @Override
  public boolean allows(Workload workload) {
    return injection != Injection.CORRUPT
        || !workload.settings().containsKey("spark.io.encryption.enabled");
  }

  @Override
  public Map<String, String> settings(Path directory) {
    return settings;
  }

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
    cluster.order(Map.of(), 0, 0);
  }
}
