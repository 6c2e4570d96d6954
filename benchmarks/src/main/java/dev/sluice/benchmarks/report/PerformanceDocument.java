// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.report;

import dev.sluice.benchmarks.ResultFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A document with tables of performance. Its rows are in {@code results.json} next to it. {@link
 * ReportCommand} first adds rows and then writes the document, on one thread.
 */
record PerformanceDocument(Path file) {
  /** Returns the file of its rows. */
  ResultFile rows() {
    return new ResultFile(file.resolveSibling("results.json"));
  }

  /** Writes its tables. */
  void write() throws IOException {
    Files.writeString(file, GeneratedParts.write(Files.readString(file), rows().read()));
  }
}
