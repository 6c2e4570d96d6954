package dev.sluice.benchmarks.report;

import dev.sluice.benchmarks.ResultFile;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * A document about performance with the rows that it shows, in {@code figures/results.json} beside
 * it, and its plots in the same folder.
 */
final class PerformanceDocument {
  private static final String FIGURES = "figures";

  private final Path file;
  private final Path figures;

  PerformanceDocument(Path file) {
    this.file = file;
    figures = file.resolveSibling(FIGURES);
  }

  /** The rows that it shows. */
  ResultFile rows() {
    return new ResultFile(figures.resolve("results.json"));
  }

  /** Writes its generated parts, and its plots: those that it no longer shows are deleted. */
  void write() throws IOException {
    GeneratedParts parts = new GeneratedParts(FIGURES, rows().read());
    Files.writeString(file, parts.write(Files.readString(file)));
    try (DirectoryStream<Path> plots = Files.newDirectoryStream(figures, "*.svg")) {
      for (Path plot : plots) {
        Files.delete(plot);
      }
    }
    for (Map.Entry<String, String> plot : parts.figures().entrySet()) {
      Files.writeString(figures.resolve(plot.getKey()), plot.getValue());
    }
  }
}
