// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * File of runs, one JSON object per line, so that a series that is cut off loses nothing. {@link
 * ChaosRuns} reads it at its start and adds each run when it ends; of a run that is there twice the
 * last counts.
 *
 * @param file null for no file
 * @param commit commit of this program, stored with each run
 */
record ChaosFile(Path file, String commit) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** A line of the file: a run, and the commit that it ran. */
  record Line(String commit, ChaosRun run) {}

  /**
   * @throws IOException if it has runs of another commit, which say nothing about this one
   */
  List<ChaosRun> read() throws IOException {
    List<ChaosRun> runs = new ArrayList<>();
    if (file != null && Files.exists(file)) {
      String lines = Files.readString(file);
      // The last line is incomplete if a series was cut off.
      for (String line : lines.substring(0, lines.lastIndexOf('\n') + 1).lines().toList()) {
        runs.add(run(JSON.readValue(line, Line.class)));
      }
    }
    return runs;
  }

  private ChaosRun run(Line line) throws IOException {
    if (!commit.equals(line.commit())) {
      throw new IOException(
          "%s has runs of commit %s, but this is commit %s; choose another file"
              .formatted(file, line.commit(), commit));
    }
    return line.run();
  }

  void add(ChaosRun run) throws IOException {
    if (file != null) {
      Files.writeString(
          file,
          JSON.writeValueAsString(new Line(commit, run)) + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    }
  }
}
