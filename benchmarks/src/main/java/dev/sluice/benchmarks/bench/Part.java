// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.bench;

import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.RowPattern;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A part of {@code bin/bench all}: a command of bin/bench with its arguments. {@link AllCommand}
 * runs the parts of a list in the order of {@code parts.txt}, which has a line for each: list, name,
 * rows, minutes, command.
 *
 * @param rows rows that it writes; one of them shows that the part is done
 * @param minutes minutes that it takes on two cores
 * @param words command of bin/bench with its arguments; "with-verbs" before it if it needs an RDMA
 *     device, which bin/with-verbs provides
 */
record Part(String name, RowPattern rows, int minutes, List<String> words) {
  /** A part is ended after its minutes times this factor, which leaves room for slow machines. */
  private static final int PATIENCE = 6;

  private static final String STAGED =
      "--label staged --conf spark.shuffle.rdma.registration.maxBytes=0";

  /** Parts with a goal that take less than half an hour: no TeraSort of 10 GB, no TPC-DS. */
  static final List<Part> QUICK = read("quick");

          of("start", "start-*", 3, "start"),
  static final List<Part> FULL = read("full");

  private static List<Part> read(String list) {
    try (InputStream lines = Part.class.getResourceAsStream("parts.txt")) {
      return new String(lines.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .map(line -> line.replace("STAGED", STAGED).split(" \\| "))
          .filter(cells -> cells[0].equals(list))
          .map(Part::of)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Part of(String[] cells) {
    return new Part(
        cells[1],
        new RowPattern(cells[2]),
        Integer.parseInt(cells[3]),
        List.of(cells[4].split(" ")));
  }

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
    boolean onVerbs = words.getFirst().equals("with-verbs");
    if (onVerbs) {
      command.add(bin.resolve("with-verbs").toString());
      command.addAll(List.of("--devices", "1", "--timeout", "" + 60 * timeoutMinutes()));
      command.addAll(List.of("--out", requireNonNull(rows.getParent()).toString()));
    }
    command.add(bin.resolve("bench").toString());
    command.addAll(words.subList(onVerbs ? 1 : 0, words.size()));
    command.addAll(List.of("--json", rows.toString()));
    return command;
  }
}
