package dev.sluice.benchmarks.terasort;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.SluiceTotals;
import java.io.IOException;
import java.nio.file.Path;

/**
 * What one sort in a driver process of its own came to; travels to the command in a file.
 *
 * @param seconds from the start of the job to the committed output
 * @param remoteBytes sum of Spark's own remoteBytesRead over all tasks
 * @param totals Sluice's own counters
 */
record SortResult(double seconds, long remoteBytes, SluiceTotals totals) {

  static SortResult read(Path file) throws IOException {
    return new ObjectMapper().readValue(file.toFile(), SortResult.class);
  }

  void write(Path file) throws IOException {
    new ObjectMapper().writeValue(file.toFile(), this);
  }
}
