// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.chaos.fault.ExecutorFaults.SlowDisk;
import dev.sluice.chaos.fault.FaultAction.Evidence;
import dev.sluice.chaos.inject.Injection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Stops an executor for longer than a lease, or kills it as kill -9 does, at an event in Sluice's
 * code. {@link #prepare} chooses the victim and orders the strike, on the driver's main thread
 * before the job. The victim's own agent strikes at the event, or a peer kills the victim. The
 * stock shuffle has no such event: there {@link #strike} strikes an executor that reads.
 */
class AtEvent implements FaultAction {
  final Map<Injection, Double> rates;
  private final Evidence evidence;
  private final FaultAction ofStock;

  /**
   * @param rates rate of the event, and of injections that make it likely
   */
  private AtEvent(Map<Injection, Double> rates, Evidence evidence, FaultAction ofStock) {
    this.rates = rates;
    this.evidence = evidence;
    this.ofStock = ofStock;
  }

  /**
   * @param rates rate of the event, and of injections that make it likely
   */
  static AtEvent killed(Map<Injection, Double> rates) {
    return new AtEvent(rates, Evidence.LOST_EXECUTORS, Faults.KILL);
  }

  /**
   * @param rates rate with which each occurrence of the event stops the victim
   */
  static AtEvent stopped(Map<Injection, Double> rates) {
    Evidence evidence = Evidence.of(rates.keySet().iterator().next());
    return new AtEvent(rates, evidence, ExecutorFaults.stopped(Cluster::any));
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

  /** Ignores {@code inTime} with Sluice: the event may come before stock's moment. */
  @Override
  public boolean hasStruck(Cluster cluster, boolean inTime) {
    return cluster.isSluice() || inTime;
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    ofStock.heal(cluster);
  }

  /** Strikes a victim that copies blocks for a peer from a slow disk. */
  static final class Copying extends AtEvent {
    private final SlowDisk disk = new SlowDisk();

    /**
     * @param event an event of a victim that copies
     */
    Copying(AtEvent event) {
      super(event.rates, event.evidence, event.ofStock);
    }

    @Override
    public @Nullable String unavailable(String provider) {
      return disk.unavailable(provider);
    }

    /** Does nothing: bytes that are requested before the disk is slow are copied from memory. */
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
