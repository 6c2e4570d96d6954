package dev.sluice.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PerformanceDocumentTest {
  private static final Path DOCS = Path.of("..", "docs");

  @TempDir Path copy;

  /** {@code bin/bench report} writes them. */
  @Test
  void tablesAndPlotsAreThoseOfTheCommittedRows() throws IOException {
    Files.createDirectory(copy.resolve("figures"));
    for (String file : new String[] {"performance.md", "figures/results.json"}) {
      Files.copy(DOCS.resolve(file), copy.resolve(file));
    }
    new PerformanceDocument(copy.resolve("performance.md")).write();
    assertThat(copy.resolve("performance.md"))
        .hasSameTextualContentAs(DOCS.resolve("performance.md"));
    assertThat(plots(copy)).isEqualTo(plots(DOCS));
  }

  private static Map<String, String> plots(Path document) throws IOException {
    Map<String, String> plots = new TreeMap<>();
    try (Stream<Path> files = Files.list(document.resolve("figures"))) {
      for (Path file : files.filter(path -> path.toString().endsWith(".svg")).toList()) {
        plots.put(file.getFileName().toString(), Files.readString(file));
      }
    }
    return plots;
  }
}
