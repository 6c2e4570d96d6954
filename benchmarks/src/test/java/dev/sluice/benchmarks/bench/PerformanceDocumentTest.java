// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.bench.ReportCommand.PerformanceDocument;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PerformanceDocumentTest {
  private static final Path FIGURES = Path.of("..", "docs", "figures");
  private static final String DOCUMENT = "performance-tables.md";

  @TempDir Path copy;

  /** {@code bin/bench report} writes them. */
  @Test
  void tablesAreThoseOfTheCommittedRows() throws IOException {
    for (String file : new String[] {DOCUMENT, "results.json"}) {
      Files.copy(FIGURES.resolve(file), copy.resolve(file));
    }
    new PerformanceDocument(copy.resolve(DOCUMENT)).write();
    assertThat(copy.resolve(DOCUMENT)).hasSameTextualContentAs(FIGURES.resolve(DOCUMENT));
  }
}
