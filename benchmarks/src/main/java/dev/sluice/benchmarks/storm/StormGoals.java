package dev.sluice.benchmarks.storm;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The storms that Sluice has goals for, as ratios of times; less is better. */
final class StormGoals {
  /** Of reduce time per block, from the smallest shuffle to the largest. */
  static final double GROWTH = 1.2;

  static final StormCase SMALLEST = StormCase.of(Workload.RDD_KRYO, 100, 100, 300);
  static final StormCase LARGEST = StormCase.of(Workload.RDD_KRYO, 1000, 1000, 300);

  private static final Map<StormCase, Map<String, Double>> GOALS = new LinkedHashMap<>();

  static {
    GOALS.put(
        StormCase.of(Workload.RDD_KRYO, 400, 400, 1000),
        Map.of("task", 0.15, "wall", 0.32, "cpu", 1 / 3.0));
    GOALS.put(StormCase.of(Workload.RDD_JAVA, 400, 400, 1000), Map.of("task", 0.35));
    GOALS.put(
        StormCase.of(Workload.SQL_REPARTITION, 400, 400, 300), Map.of("task", 0.16, "wall", 0.40));
    GOALS.put(StormCase.of(Workload.SQL_AGGREGATE, 400, 200, 1200), Map.of());
    GOALS.put(StormCase.of(Workload.RDD_KRYO, 32, 32, 1 << 20), Map.of("cpu", 0.8));
    GOALS.put(SMALLEST, Map.of());
    GOALS.put(LARGEST, Map.of("task", 0.09));
    GOALS.put(new StormCase(Workload.RDD_KRYO, 64, 64, 1 << 20, false, true), Map.of("wall", 1.0));
  }

  private StormGoals() {}

  /** Those of the page cache only: the disk of a shared machine is another thing to measure. */
  static List<StormCase> cases() {
    return GOALS.keySet().stream().filter(storm -> !storm.cold()).toList();
  }

  /** Null where there is none. */
  static Double goal(StormCase storm, String figure) {
    return GOALS.getOrDefault(storm, Map.of()).get(figure);
  }
}
