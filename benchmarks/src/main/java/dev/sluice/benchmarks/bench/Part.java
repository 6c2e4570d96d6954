package dev.sluice.benchmarks.bench;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.RowPattern;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A part of {@code bin/bench all}: a command of bin/bench with its arguments.
 *
 * @param rows that it writes, one of which says that it was done
 * @param onVerbs whether it needs an RDMA device, which bin/with-verbs has
 * @param arguments of bin/bench
 * @param minutes that it takes on two cores
 */
record Part(String name, RowPattern rows, boolean onVerbs, List<String> arguments, int minutes) {
  /** After so many times its minutes it is ended. */
  private static final int PATIENCE = 6;

  private static Part of(String name, String rows, int minutes, String arguments) {
    return new Part(name, new RowPattern(rows), false, List.of(arguments.split(" ")), minutes);
  }

  private static Part onVerbs(String name, int minutes, String arguments) {
    return new Part(
        name, new RowPattern(name + "-*"), true, List.of(arguments.split(" ")), minutes);
  }

  private static Part terasort(String name, int minutes, String arguments) {
    return of("terasort-" + name, "terasort-" + name, minutes, "terasort " + arguments);
  }

  private static final String STAGED =
      " --label staged --conf spark.shuffle.rdma.registration.maxBytes=0";

  /** What has a goal, in less than half an hour: without TeraSort of 10 GB and TPC-DS. */
  static final List<Part> QUICK =
      List.of(
          onVerbs("read-verbs", 2, "read --quick --rounds 3"),
          terasort("1g", 3, "--size 1g --repeat 1"),
          of("storm", "storm-*", 12, "storm --rounds 1 --warm-up 8 --repetitions 1"),
          of("node", "node-*", 4, "node --quick --only lost_executors,hand_over"));

  static final List<Part> FULL =
      List.of(
          of("engine", "engine-*", 2, "engine"),
          of("stage", "stage-*", 10, "stage"),
          onVerbs("read-verbs", 20, "read"),
          terasort("1g", 7, "--size 1g --repeat 5"),
          terasort("3g", 14, "--size 3g --repeat 5"),
          terasort("3g-staged", 14, "--size 3g --repeat 5" + STAGED),
          of("storm", "storm-growth-*", 50, "storm"),
          of(
              "storm-staged",
              "storm-*-400x400-1KB-staged-*",
              8,
              "storm --workload rdd-kryo" + STAGED),
          of(
              "storm-large-staged",
              "storm-*-1MiB-staged-*",
              8,
              "storm --maps 32 --partitions 32 --block-bytes 1048576" + STAGED),
          of(
              "storm-iterative",
              "storm-rdd-iterative-*",
              40,
              "storm --workload rdd-iterative --maps 16 --partitions 16 --rounds 10"),
          of(
              "storm-cold",
              "storm-*-cold-*",
              6,
              "storm --cold --maps 64 --partitions 64 --block-bytes 1048576 --warm-up 3"),
          of("node", "node-*", 170, "node"),
          onVerbs("node-stopped", 25, "node --only stopped_server"),
          of("tpcds", "tpcds-*", 65, "tpcds"),
          terasort("10g", 20, "--size 10g --repeat 2"),
          terasort("10g-staged", 20, "--size 10g --repeat 2" + STAGED),
          terasort("10g-node", 20, "--node --size 10g --repeat 2"));

  /** Whether the rows are there. */
  boolean isIn(List<Comparison> rows) {
    return !this.rows.of(rows).isEmpty();
  }

  int timeoutMinutes() {
    return PATIENCE * minutes;
  }

  /**
   * @param bin where bin/bench is
   * @param rows the file to write
   */
  List<String> command(Path bin, Path rows) {
    List<String> command = new ArrayList<>();
    if (onVerbs) {
      command.add(bin.resolve("with-verbs").toString());
      command.addAll(List.of("--devices", "1", "--timeout", "" + 60 * timeoutMinutes()));
      command.addAll(List.of("--out", rows.getParent().toString()));
    }
    command.add(bin.resolve("bench").toString());
    command.addAll(arguments);
    command.addAll(List.of("--json", rows.toString()));
    return command;
  }
}
