package dev.sluice.benchmarks.bench;

import dev.sluice.benchmarks.Comparison;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A part of {@code bin/bench all}: a command of bin/bench with its arguments.
 *
 * @param name of its rows, which follows it with a hyphen or nothing
 * @param onVerbs whether it needs an RDMA device, which bin/with-verbs has
 * @param arguments of bin/bench
 * @param minutes that it takes on two cores
 */
record Part(String name, boolean onVerbs, List<String> arguments, int minutes) {
  /** After so many times its minutes it is ended. */
  private static final int PATIENCE = 6;

  private static Part of(String name, int minutes, String arguments) {
    return new Part(name, false, List.of(arguments.split(" ")), minutes);
  }

  private static Part onVerbs(String name, int minutes, String arguments) {
    return new Part(name, true, List.of(arguments.split(" ")), minutes);
  }

  /** What has a goal, in less than half an hour: without TeraSort of 10 GB and TPC-DS. */
  static final List<Part> QUICK =
      List.of(
          onVerbs("read-verbs", 2, "read --quick --rounds 3"),
          of("terasort-1g", 2, "terasort --size 1g --repeat 1"),
          of("storm", 12, "storm --rounds 1 --warm-up 8 --repetitions 1"),
          of("node", 4, "node --quick --only lost_executors,hand_over"));

  static final List<Part> FULL =
      List.of(
          of("engine", 2, "engine"),
          of("stage", 10, "stage"),
          onVerbs("read-verbs", 20, "read"),
          of("terasort-1g", 6, "terasort --size 1g --repeat 5"),
          of("storm", 50, "storm"),
          of("node", 170, "node"),
          of("scale", 3, "scale"),
          of("tpcds", 65, "tpcds"),
          of("terasort-10g", 25, "terasort --size 10g --repeat 3"));

  /** Whether the rows are there. */
  boolean isIn(List<Comparison> rows) {
    return rows.stream()
        .anyMatch(row -> row.name().equals(name) || row.name().startsWith(name + "-"));
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
