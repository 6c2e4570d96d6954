package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.inject.Injection;
import java.util.Map;
import java.util.Random;

/**
 * An executor is stopped for longer than a lease, or ends as by kill -9, at an event of Sluice's;
 * with the stock shuffle, which has no such event, one that reads.
 */
class AtEvent implements Blow {
  static final long STOPPED_MS = 7_000;

  final Map<Injection, Double> rates;
  final Evidence evidence;
  private final Blow ofStock;

  AtEvent(Map<Injection, Double> rates, Evidence evidence, Blow ofStock) {
    this.rates = rates;
    this.evidence = evidence;
    this.ofStock = ofStock;
  }

  /**
   * @param rates the event at which the victim ends, and what makes it likely
   */
  static AtEvent killed(Map<Injection, Double> rates) {
    return new AtEvent(rates, Evidence.ofLostExecutors(), Faults.KILL);
  }

  /**
   * @param rate how likely each such event is the one
   */
  static AtEvent stopped(Injection event, double rate) {
    return new AtEvent(Map.of(event, rate), Evidence.of(event), new Stopped());
  }

  @Override
  public void prepare(Cluster cluster, Random random) throws Exception {
    evidence.begin(cluster);
    cluster.order(rates, random.nextLong(), cluster.any(random).pid());
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    if (!cluster.isSluice()) {
      ofStock.strike(cluster, random);
    }
  }

  @Override
  public boolean hasStruck(Cluster cluster, boolean inTime) throws Exception {
    return cluster.isSluice() ? evidence.hasGrown(cluster) : inTime;
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    cluster.orderNothing();
    ofStock.heal(cluster);
  }

  /** While it copies for a peer, from a slow disk. */
  static final class Copying extends AtEvent {
    private final SlowDisk disk = new SlowDisk();

    private Copying(Injection event, Evidence evidence, Blow ofStock) {
      super(Map.of(event, 1.0), evidence, ofStock);
    }

    static Copying killed() {
      Injection event = Injection.HALT_COPYING;
      return new Copying(event, Evidence.ofLostExecutors(), Faults.KILL);
    }

    static Copying stopped() {
      Injection event = Injection.STOP_COPYING;
      return new Copying(event, Evidence.of(event), new Stopped());
    }

    @Override
    public String unavailable(String provider) {
      return disk.unavailable(provider);
    }

    /** What was asked for before the disk is slow is copied from memory. */
    @Override
    public void prepare(Cluster cluster, Random random) throws Exception {
      evidence.begin(cluster);
    }

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
