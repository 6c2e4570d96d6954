package dev.sluice.benchmarks;

import dev.sluice.benchmarks.Comparison.Better;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A ratio that is to be reached, and which rows say whether it is.
 *
 * @param what in words
 * @param names of the rows
 */
public record Goal(String what, Better better, double ratio, RowPattern names) {
  private static final List<Goal> ALL =
      List.of(
          less(
              "block storm of 400 x 400 blocks of 1 KB, RDD with Kryo, uncompressed: task run time"
                  + " of the reduce stage",
              0.15,
              "storm-rdd-kryo-400x400-1KB-task"),
          less("the same: wall time of the reduce stage", 0.32, "storm-rdd-kryo-400x400-1KB-wall"),
          less("the same: CPU seconds of both sides", 1 / 3.0, "storm-rdd-kryo-400x400-1KB-cpu"),
          less(
              "the same with all staged: task run time",
              0.25,
              "storm-rdd-kryo-400x400-1KB-staged-task"),
          less(
              "the same with all staged: CPU seconds of both sides",
              0.4,
              "storm-rdd-kryo-400x400-1KB-staged-cpu"),
          less(
              "the same with Java's serializer: task run time of the reduce stage",
              0.35,
              "storm-rdd-java-400x400-1KB-task"),
          less(
              "block storm of 1,000 x 1,000 blocks of 0.3 KB: task run time of the reduce stage",
              0.09,
              "storm-rdd-kryo-1000x1000-0.3KB-task"),
          less(
              "growth of reduce time per block from 100 x 100 to 1,000 x 1,000",
              1.2,
              "storm-growth-*"),
          less(
              "block storm as SQL repartition, AQE off: task run time of the reduce stage",
              0.16,
              "storm-sql-repartition-400x400-0.3KB-task"),
          less(
              "the same: wall time of the reduce stage",
              0.4,
              "storm-sql-repartition-400x400-0.3KB-wall"),
          less(
              "32 x 32 blocks of 1 MiB: CPU seconds of both sides",
              0.8,
              "storm-rdd-kryo-32x32-1MiB-cpu"),
          less(
              "the same with all staged: CPU seconds of both sides",
              1,
              "storm-rdd-kryo-32x32-1MiB-staged-cpu"),
          less(
              "4 GB of map outputs that are not in the page cache: wall time of the reduce stage",
              1,
              "storm-rdd-kryo-64x64-1MiB-cold-wall"),
          less(
              "60 small shuffles of 16 partitions over cached data",
              0.98,
              "storm-rdd-iterative-16x16-1KB-jobs"),
          less("TeraSort of 1 GB, whole job", 1, "terasort-1g"),
          less("TeraSort of 10 GB, whole job", 1, "terasort-10g"),
          less(
              "TeraSort of 3 GB and of 10 GB, larger than may be pinned",
              1.03,
              "terasort-3g terasort-10g"),
          less("the same: CPU seconds of the executors", 1, "terasort-3g-cpu terasort-10g-cpu"),
          less("the same with all staged", 1.03, "terasort-3g-staged terasort-10g-staged"),
          less(
              "63 peers that stage from one at once: its own tasks",
              1.05,
              "stage-63-peers-own-task"),
          more(
              "one of 16 peers on a disk of 10 MB/s: throughput of the others",
              0.95,
              "stage-16-servers-one-slow-others"),
          less("TPC-DS SF1, sum of all queries", 0.97, "tpcds-sf1-total"),
          less("the same: CPU seconds of the executors", 1, "tpcds-sf1-total-cpu"),
          less("TPC-DS SF1, each query", 1.05, "tpcds-sf1-q*"),
          more(
              "READs of 64 KiB and more on verbs, beside ib_read_bw",
              0.97,
              "read-verbs-64KiB-x8 read-verbs-64KiB-x64 read-verbs-256KiB-x8 read-verbs-256KiB-x64"
                  + " read-verbs-*MiB-x8 read-verbs-*MiB-x64"),
          less("latency of 16 B on verbs, beside ib_read_lat", 1.1, "read-verbs-16B-x1"),
          more(
              "READs of 64 KiB that the engine's thread does, by what 400 Gb/s bring",
              1.05,
              "engine-rate-64KiB"),
          less("CPU time of a READ in the engine, by 0.3 us", 1, "engine-cpu-*"),
          more(
              "READs by one engine, by what links of 100, 200 and 400 Gb/s bring",
              0.97,
              "engine-link-*iB"),
          less(
              "all executors killed or released: stages tried again, map outputs written again",
              1,
              "node-killed-stages node-killed-maps node-released-stages node-released-maps"),
          more(
              "the same: part of the remote bytes by READ",
              0.95,
              "node-killed-read node-released-read"),
          less(
              "a node's block server started again in mid-reduce: stages tried again",
              1,
              "node-restarted-stages node-restarted-maps"),
          less("the same: seconds lost, by 6 s", 1, "node-restarted-lost"),
          less(
              "a node lost: stages tried again, beside the external shuffle service",
              1,
              "node-lost-stages"),
          less(
              "a block server or an executor stopped for 10 s, on verbs: seconds lost, by stock's",
              0.1,
              "node-stopped-lost-verbs node-stopped-executor-lost-verbs"),
          less(
              "TeraSort of 10 GB through a node, beside the external shuffle service",
              1.03,
              "terasort-10g-node"),
          less("the same: CPU seconds of executors and of what serves", 1, "terasort-10g-node-cpu"),
          less(
              "storm of 400 x 400 blocks of 1 KB through a node, beside the external shuffle"
                  + " service: task run time",
              0.25,
              "node-storm-task"),
          less("the same: CPU seconds of what serves", 0.15, "node-storm-serving-cpu"),
          less("a hand-over, by 1 ms", 1, "node-hand-over-*"),
          less(
              "queue pairs and sockets of a node with 16 executors, beside one",
              1,
              "node-executors-*"),
          less(
              "what a node holds after 1,000 applications, beside half of them",
              1.1,
              "node-applications-*"));

  private static Goal less(String what, double ratio, String names) {
    return new Goal(what, Better.LESS, ratio, new RowPattern(names));
  }

  private static Goal more(String what, double ratio, String names) {
    return new Goal(what, Better.MORE, ratio, new RowPattern(names));
  }

  /** The first one that a row of that name decides. */
  static Optional<Goal> of(String name) {
    return ALL.stream().filter(goal -> goal.names.isOne(name)).findFirst();
  }

  boolean isReached(double by) {
    return better == Better.LESS ? by <= ratio : by >= ratio;
  }

  /** The row that decides: where several say, the worst. */
  private Optional<Comparison> decisive(List<Comparison> rows) {
    Comparator<Comparison> byRatio = Comparator.comparingDouble(Comparison::ratio);
    return names.of(rows).stream().max(better == Better.LESS ? byRatio : byRatio.reversed());
  }

  /** "0.97 or more". */
  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%.2f or ", ratio) + better.name().toLowerCase(Locale.ROOT);
  }

  /** What is to be reached, and what is. */
  public static String table(List<Comparison> rows) {
    StringBuilder table =
        new StringBuilder("| what | goal | ratio | reached |\n|---|---|---|---|\n");
    for (Goal goal : ALL) {
      String measured =
          goal.decisive(rows)
              .map(row -> Spread.of(row.ratios()) + " | " + word(goal.isReached(row.ratio())))
              .orElse("not measured | ");
      table.append("| %s | %s | %s |\n".formatted(goal.what(), goal, measured));
    }
    return table.toString();
  }

  static String word(boolean isReached) {
    return isReached ? "yes" : "no";
  }
}
