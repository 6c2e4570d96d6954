package dev.sluice.benchmarks.storm;

import dev.sluice.benchmarks.Executors;
import java.util.Map;
import java.util.TreeMap;

/** CPU time of the executors of a local cluster: the workers start them in the driver's process. */
final class ExecutorCpu {
  private ExecutorCpu() {}

  /** Seconds, user and system, since each has started, by executor id. */
  static Map<String, Double> seconds() {
    Map<String, Double> seconds = new TreeMap<>();
    Executors.processes()
        .forEach(
            (executor, process) ->
                process
                    .info()
                    .totalCpuDuration()
                    .ifPresent(time -> seconds.put(executor, time.toNanos() / 1e9)));
    return seconds;
  }

  /** What each has used between two calls of {@link #seconds}. */
  static Map<String, Double> between(Map<String, Double> start, Map<String, Double> end) {
    Map<String, Double> used = new TreeMap<>(end);
    start.forEach((executor, seconds) -> used.merge(executor, -seconds, Double::sum));
    return used;
  }
}
