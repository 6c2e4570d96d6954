// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.ResultFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PerformanceDocumentTest {
  private static final Path FIGURES = Path.of("..", "docs", "figures");

  /** {@code bin/bench report} writes them. */
  @Test
  void tablesAreThoseOfTheCommittedRows() throws IOException {
    String document = Files.readString(FIGURES.resolve("performance-tables.md"));
    ResultFile rows = new ResultFile(FIGURES.resolve("results.json"));
    assertThat(ReportCommand.withTables(document, rows.read())).isEqualTo(document);
  }

  @Test
  void thePlotIsThatOfTheCommittedRows() throws IOException {
    Path document = FIGURES.resolve("performance-tables.md");
    ResultFile rows = new ResultFile(FIGURES.resolve("results.json"));
    assertThat(ReportCommand.plotOf(document))
        .hasContent(ReportCommand.plot(Files.readString(document), rows.read()).orElseThrow());
  }
}
