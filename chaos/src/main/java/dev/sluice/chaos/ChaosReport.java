// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * Report of a series of runs: a table, then a line for each problem. Runs that did not begin before
 * the deadline are listed, but are no problem. {@link ChaosCommand} writes it at its end.
 *
 * @param series a series whose runs have ended
 */
record ChaosReport(ChaosRuns series) {
  /**
   * Writes the report.
   *
   * @return true if at least one run took place and there is no problem
   */
  boolean write(PrintWriter out) {
    List<ChaosRun> runs = series.all();
    List<String> notBegun = series.cellsNotBegun();
    if (runs.isEmpty()) {
      out.println("no run took place");
      return false;
    }
    long bad = runs.stream().filter(run -> !run.complaints().isEmpty()).count();
    List<String> wrong = new ArrayList<>();
    ChaosTable.neverStruck(runs)
        .forEach(group -> wrong.add("struck no job that READ blocks: " + group));
    ResourceLevels.grown(runs).forEach(what -> wrong.add("grew: " + what));
    out.print(ChaosTable.of(runs));
    wrong.forEach(out::println);
    out.printf(
        "%d of %d runs have no complaint; %d did not begin; %d have no answer of the stock"
            + " shuffle%n",
        runs.size() - bad, runs.size(), series.notBegun(), series.notMeasured());
    notBegun.forEach(cell -> out.println("did not begin: " + cell));
    return bad == 0 && wrong.isEmpty() && series.notMeasured() == 0;
  }
}
