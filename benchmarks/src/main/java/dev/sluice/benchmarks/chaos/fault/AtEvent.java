package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.inject.Injection;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * An executor is stopped for longer than a lease, or ends as by kill -9, at an event of Sluice's;
 * with the stock shuffle, which has no such event, one that reads.
 */
class AtEvent implements Blow {
  static final long STOPPED_MS = 7_000;

  final Map<Injection, Double> rates;
  private final Evidence evidence;
  private final Blow ofStock;

  /**
   * @param rates the event, and what makes it likely
   */
  private AtEvent(Map<Injection, Double> rates, Evidence evidence, Blow ofStock) {
    this.rates = rates;
    this.evidence = evidence;
    this.ofStock = ofStock;
  }

  /**
   * @param rates the event at which the victim ends, and what makes it likely
   */
  static AtEvent killed(Map<Injection, Double> rates) {
    return new AtEvent(rates, Evidence.LOST_EXECUTORS, Faults.KILL);
  }

  /**
   * @param rate how likely each such event is the one
   */
  static AtEvent stopped(Injection event, double rate) {
    return new AtEvent(Map.of(event, rate), Evidence.of(event), new Stopped(Cluster::any));
  }

  @Override
  public List<Evidence> evidence() {
    return List.of(evidence);
  }

  @Override
  public void prepare(Cluster cluster, Random random) throws Exception {
    cluster.order(rates, random.nextLong(), cluster.any(random).pid());
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    if (!cluster.isSluice()) {
      ofStock.strike(cluster, random);
    }
  }

  /** The event may have come before the moment at which it strikes the stock shuffle. */
  @Override
  public boolean hasStruck(Cluster cluster, boolean inTime) {
    return cluster.isSluice() || inTime;
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    cluster.orderNothing();
    ofStock.heal(cluster);
  }

  /** While it copies for a peer, from a slow disk. */
  static final class Copying extends AtEvent {
    private final SlowDisk disk = new SlowDisk();

    /**
     * @param event that of a victim which copies
     */
    Copying(AtEvent event) {
      super(event.rates, event.evidence, event.ofStock);
    }

    @Override
    public String unavailable(String provider) {
      return disk.unavailable(provider);
    }

    /** What was asked for before the disk is slow is copied from memory. */
    @Override
    public void prepare(Cluster cluster, Random random) {}

    @Override
    public void strike(Cluster cluster, Random random) throws Exception {
      disk.strike(cluster, random);
      cluster.order(rates, random.nextLong(), disk.victim());
      super.strike(cluster, random);
    }

    @Override
    public void heal(Cluster cluster) throws Exception {
      disk.heal(cluster);
      super.heal(cluster);
    }
  }
}
