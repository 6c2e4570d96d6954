package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.Cluster;
import dev.sluice.benchmarks.chaos.inject.Injection;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;

/** Slow READs, and Spark starts second copies of slow tasks and kills the ones that lose. */
final class Speculation extends Fault {
  Speculation() {
    super("speculation", "slow READs, speculative tasks and the end of the losers", Moment.BEFORE);
  }

  @Override
  public boolean isInjected() {
    return true;
  }

  @Override
  public Map<String, String> settings(Path directory) {
    return Map.of(
        "spark.speculation", "true",
        "spark.speculation.interval", "50ms",
        "spark.speculation.multiplier", "1.01",
        "spark.speculation.quantile", "0.1",
        "spark.speculation.minTaskRuntime", "50ms");
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    cluster.order(Map.of(Injection.SLOW_POST, 0.3), random.nextLong(), 0);
  }
}
