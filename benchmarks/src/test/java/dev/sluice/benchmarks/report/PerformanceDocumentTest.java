package dev.sluice.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PerformanceDocumentTest {
  private static final Path DOCS = Path.of("..", "docs");

  @TempDir Path copy;

  /** {@code bin/bench report} writes them. */
  @Test
  void tablesAreThoseOfTheCommittedRows() throws IOException {
    Files.createDirectory(copy.resolve("figures"));
    for (String file : new String[] {"performance.md", "figures/results.json"}) {
      Files.copy(DOCS.resolve(file), copy.resolve(file));
    }
    new PerformanceDocument(copy.resolve("performance.md")).write();
    assertThat(copy.resolve("performance.md"))
        .hasSameTextualContentAs(DOCS.resolve("performance.md"));
  }
}
