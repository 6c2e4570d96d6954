package dev.sluice.benchmarks.report;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Comparison.Better;
import dev.sluice.benchmarks.ComparisonTable;
import dev.sluice.benchmarks.Spread;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Something that is to be reached, and which rows say whether it is: those of them that have a
 * goal.
 *
 * @param what in words
 * @param ratio to reach, in words
 * @param names a {@link RowPattern}
 */
record Goal(String what, String ratio, String names) {
  static final List<Goal> ALL =
      List.of(
          new Goal(
              "block storm of 400 x 400 blocks of 1 KB, RDD with Kryo, uncompressed: task run time"
                  + " of the reduce stage",
              "0.15 or less",
              "storm-rdd-kryo-400x400-1KB-task"),
          new Goal(
              "the same: wall time of the reduce stage",
              "0.32 or less",
              "storm-rdd-kryo-400x400-1KB-wall"),
          new Goal(
              "the same with Java's serializer: task run time of the reduce stage",
              "0.35 or less",
              "storm-rdd-java-400x400-1KB-task"),
          new Goal(
              "block storm of 1,000 x 1,000 blocks of 0.3 KB: task run time of the reduce stage",
              "0.09 or less",
              "storm-rdd-kryo-1000x1000-0.3KB-task"),
          new Goal(
              "block storm as SQL repartition, AQE off: task run time of the reduce stage",
              "0.16 or less",
              "storm-sql-repartition-400x400-0.3KB-task"),
          new Goal(
              "the same: wall time of the reduce stage",
              "0.40 or less",
              "storm-sql-repartition-400x400-0.3KB-wall"),
          new Goal(
              "CPU seconds of both sides: 400 x 400 blocks of 1 KB",
              "0.33 or less",
              "storm-*KB-cpu"),
          new Goal("the same: 32 x 32 blocks of 1 MiB", "0.80 or less", "storm-*MiB-cpu"),
          new Goal(
              "4 GB of map outputs that are not in the page cache: wall time of the reduce stage",
              "1.00 or less",
              "storm-*-cold-wall"),
          new Goal("TeraSort of 1 GB, whole job", "1.00 or less", "terasort-1g"),
          new Goal("TeraSort of 10 GB, whole job", "1.00 or less", "terasort-10g"),
          new Goal("TPC-DS SF1, sum of all queries", "0.97 or less", "tpcds-sf1-total"),
          new Goal("the same: CPU seconds of the executors", "1.00 or less", "tpcds-sf1-total-cpu"),
          new Goal("TPC-DS SF1, each query", "1.05 or less", "tpcds-sf1-q*"),
          new Goal(
              "READs of 64 KiB and more on verbs, beside ib_read_bw",
              "0.97 or more",
              "read-verbs-*KiB-* read-verbs-*MiB-*"),
          new Goal(
              "latency of 16 B on verbs, beside ib_read_lat", "1.10 or less", "read-verbs-16B-x1"),
          new Goal(
              "READs of 64 KiB that the engine's thread does, by what 400 Gb/s bring",
              "1.05 or more",
              "engine-rate-*"),
          new Goal("CPU time of a READ in the engine, by 0.3 us", "1.00 or less", "engine-cpu-*"),
          new Goal(
              "READs by one engine, by what links of 100, 200 and 400 Gb/s bring",
              "0.97 or more",
              "engine-link-*"),
          new Goal(
              "all executors killed or released: stages tried again, map outputs written again",
              "1.00 or less",
              "node-killed-stages node-killed-maps node-released-stages node-released-maps"),
          new Goal(
              "the same: part of the remote bytes by READ",
              "0.95 or more",
              "node-killed-read node-released-read"),
          new Goal(
              "a node's block server started again in mid-reduce: stages tried again",
              "1.00 or less",
              "node-restarted-stages node-restarted-maps"),
          new Goal("the same: seconds lost, by 6 s", "1.00 or less", "node-restarted-lost"),
          new Goal(
              "a node lost: stages tried again, beside the external shuffle service",
              "1.00 or less",
              "node-lost-stages"),
          new Goal(
              "storm of 400 x 400 blocks of 1 KB through a node, beside the external shuffle"
                  + " service: task run time",
              "0.25 or less",
              "node-storm-task"),
          new Goal(
              "the same: CPU seconds of what serves", "0.15 or less", "node-storm-serving-cpu"),
          new Goal("a hand-over, by 1 ms", "1.00 or less", "node-hand-over-*"),
          new Goal(
              "queue pairs and sockets of a node with 16 executors, beside one",
              "1.00 or less",
              "node-executors-*"),
          new Goal(
              "what a node holds after 1,000 applications, beside ten",
              "1.10 or less",
              "node-applications-*"),
          new Goal(
              "growth of reduce time per block from 100 x 100 to 1,000 x 1,000",
              "1.20 or less",
              "storm-growth-*"));

  /** The row that decides: where several say, the worst. */
  Optional<Comparison> decisive(List<Comparison> rows) {
    return new RowPattern(names)
        .of(rows).stream()
            .filter(row -> row.goal() != null)
            .max(Comparator.comparingDouble(Goal::distance));
  }

  /** How far from its goal a row is: above 1 it has not reached it. */
  private static double distance(Comparison row) {
    return row.better() == Better.LESS ? row.ratio() / row.goal() : row.goal() / row.ratio();
  }

  /** What is to be reached, and what is. */
  static String table(List<Comparison> rows) {
    StringBuilder table =
        new StringBuilder("| what | goal | ratio | reached |\n|---|---|---|---|\n");
    for (Goal goal : ALL) {
      String measured =
          goal.decisive(rows)
              .map(row -> Spread.of(row.ratios()) + " | " + ComparisonTable.reached(row))
              .orElse("not measured | ");
      table.append("| %s | %s | %s |\n".formatted(goal.what(), goal.ratio(), measured));
    }
    return table.toString();
  }
}
