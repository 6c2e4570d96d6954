// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.bench;

import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.RowPattern;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A part of {@code bin/bench all}: a command of bin/bench with its arguments. {@link AllCommand}
 * runs the parts in the order of the lists.
 *
 * @param rows rows that it writes; one of them shows that the part is done
 * @param onVerbs true if it needs an RDMA device, which bin/with-verbs provides
 * @param arguments arguments of bin/bench
 * @param minutes minutes that it takes on two cores
 */
record Part(String name, RowPattern rows, boolean onVerbs, List<String> arguments, int minutes) {
  /** A part is ended after its minutes times this factor, which leaves room for slow machines. */
  private static final int PATIENCE = 6;

  private static Part of(String name, String rows, int minutes, String arguments) {
    return new Part(name, new RowPattern(rows), false, List.of(arguments.split(" ")), minutes);
  }

  private static Part onVerbs(String name, String rows, int minutes, String arguments) {
    return new Part(name, new RowPattern(rows), true, List.of(arguments.split(" ")), minutes);
  }

  private static Part terasort(String name, int minutes, String arguments) {
    return of("terasort-" + name, "terasort-" + name, minutes, "terasort " + arguments);
  }

  private static final String STAGED =
      " --label staged --conf spark.shuffle.rdma.registration.maxBytes=0";

  /** Parts with a goal that take less than half an hour: no TeraSort of 10 GB, no TPC-DS. */
  static final List<Part> QUICK =
      List.of(
          onVerbs("read-verbs", "read-verbs-*", 6, "read --quick --rounds 3"),
          terasort("1g", 3, "--size 1g --repeat 1"),
          of("storm", "storm-*", 12, "storm --rounds 1 --warm-up 8 --repetitions 1"),
          of("node", "node-hand-over-*", 4, "node --quick --only restarted_server,hand_over"));

  static final List<Part> FULL =
      List.of(
          of("verbs", "verbs-*", 1, "verbs"),
          of("start", "start-*", 3, "start"),
          of("stage", "stage-*", 10, "stage"),
          onVerbs("read-verbs", "read-verbs-*", 34, "read"),
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
          of("node", "node-hand-over-*", 60, "node"),
          onVerbs("node-stopped", "node-stopped-*-verbs", 25, "node --only stopped_server"),
          of("tpcds", "tpcds-*", 65, "tpcds"),
          terasort("10g", 20, "--size 10g --repeat 2"),
          terasort("10g-staged", 20, "--size 10g --repeat 2" + STAGED),
          terasort("10g-node", 20, "--node --size 10g --repeat 2"));

  /** Returns true if the part's rows are there. */
  boolean isIn(List<Comparison> rows) {
    return !this.rows.of(rows).isEmpty();
  }

  int timeoutMinutes() {
    return PATIENCE * minutes;
  }

  /**
   * @param bin directory of bin/bench
   * @param rows the file to write
   */
  List<String> command(Path bin, Path rows) {
    List<String> command = new ArrayList<>();
    if (onVerbs) {
      command.add(bin.resolve("with-verbs").toString());
      command.addAll(List.of("--devices", "1", "--timeout", "" + 60 * timeoutMinutes()));
      command.addAll(List.of("--out", requireNonNull(rows.getParent()).toString()));
    }
    command.add(bin.resolve("bench").toString());
    command.addAll(arguments);
    command.addAll(List.of("--json", rows.toString()));
    return command;
  }
}
