package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.Cluster;
import dev.sluice.benchmarks.chaos.ExecutorProcess;
import dev.sluice.benchmarks.chaos.inject.Injection;
import java.util.Map;
import java.util.Random;

/** kill -9 of an executor, a while after a stage has begun or by a reader that has posted READs. */
final class ExecutorKilled extends Fault {
  private final Map<Injection, Double> rates;
  private final int earliestMs;
  private final int latestMs;

  /**
   * @param rates what goes wrong beside it; with KILL_VICTIM a reader kills, and the stock
   *     shuffle's executor dies at the moment itself
   */
  ExecutorKilled(
      String name,
      String what,
      Moment moment,
      int earliestMs,
      int latestMs,
      Map<Injection, Double> rates) {
    super(name, what, moment);
    this.rates = rates;
    this.earliestMs = earliestMs;
    this.latestMs = latestMs;
  }

  @Override
  public int delayMs(Random random) {
    return random.nextInt(earliestMs, latestMs);
  }

  /** The map stage, and the reduce stage that failed; both again when both were under way. */
  @Override
  public int stageRetries() {
    return 4;
  }

  @Override
  public boolean happensToStock() {
    return true;
  }

  @Override
  public void prepare(Cluster cluster, Random random) throws Exception {
    if (!rates.containsKey(Injection.KILL_VICTIM)) {
      cluster.order(rates, random.nextLong(), 0);
    }
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    ExecutorProcess victim = cluster.any(random);
    if (rates.containsKey(Injection.KILL_VICTIM) && cluster.isSluice()) {
      cluster.order(rates, random.nextLong(), victim.pid());
    } else {
      victim.kill();
    }
  }
}
