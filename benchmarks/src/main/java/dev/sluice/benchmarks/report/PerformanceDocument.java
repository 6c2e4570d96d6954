package dev.sluice.benchmarks.report;

import dev.sluice.benchmarks.ResultFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A document about performance, with the rows that it shows in {@code figures} beside it. */
record PerformanceDocument(Path file) {
  /** The rows that it shows. */
  ResultFile rows() {
    return new ResultFile(file.resolveSibling("figures").resolve("results.json"));
  }

  /** Writes its generated parts. */
  void write() throws IOException {
    Files.writeString(file, GeneratedParts.write(Files.readString(file), rows().read()));
  }
}
