package dev.sluice.spark;

import dev.sluice.spark.metrics.ExecutorMetrics;
import dev.sluice.spark.reduce.ExecutorReading;
import dev.sluice.spark.transport.FallbackReason;
import java.util.List;

/** Only counts what goes by Spark's own transfer: registers nothing, and holds no shuffle. */
final class CountingRuntime extends SluiceRuntime {
  CountingRuntime(Environment env) {
    super(env);
    ready(
        ExecutorReading.without(env.network().client(), FallbackReason.OFF, counters),
        "off",
        new ExecutorMetrics(counters));
  }

  @Override
  void aboutToWrite() {}

  @Override
  void committed(int shuffleId, long mapId) {}

  @Override
  void unregister(int shuffleId) {}

  @Override
  public List<Integer> held() {
    return List.of();
  }

  @Override
  public void over(int shuffleId) {}
}
