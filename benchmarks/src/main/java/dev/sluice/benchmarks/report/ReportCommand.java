// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.report;

import dev.sluice.benchmarks.ResultFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The command {@code bin/bench report}: writes the tables of docs/figures/performance-tables.md
 * from rows.
 */
@Command(
    name = "report",
    description = {
      "Write the tables of docs/figures/performance-tables.md",
      "Adds the rows of the files to docs/figures/results.json, and writes the tables from it. The"
          + " text between the tables stays."
    })
public final class ReportCommand implements Callable<Integer> {
  @Option(
      names = "--document",
      paramLabel = "FILE",
      description = "Write another document, whose rows are in results.json next to it")
  private Path document;

  @Parameters(paramLabel = "FILE", description = "File that a benchmark wrote by --json")
  private List<Path> files = new ArrayList<>();

  @Override
  public Integer call() throws IOException {
    Path chosen =
        document != null
            ? document.toAbsolutePath()
            : Path.of(System.getenv("SLUICE_HOME"), "docs", "figures", "performance-tables.md");
    PerformanceDocument performance = new PerformanceDocument(chosen);
    for (Path file : files) {
      if (!Files.exists(file)) {
        System.err.println("there is no file " + file);
        return 1;
      }
      performance.rows().add(new ResultFile(file).read());
    }
    performance.write();
    return 0;
  }
}
