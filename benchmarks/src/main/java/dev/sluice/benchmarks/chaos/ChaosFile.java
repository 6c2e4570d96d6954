package dev.sluice.benchmarks.chaos;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs in a file, one JSON object a line, so that nothing is lost when a series is cut off.
 *
 * @param file null for none
 * @param commit of this program, which it keeps with each run
 */
record ChaosFile(Path file, String commit) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** A line: a run, and the commit of what was run. */
  record Line(String commit, ChaosRun run) {}

  /**
   * @throws IOException where it has runs of another commit, which say nothing of this one
   */
  List<ChaosRun> read() throws IOException {
    List<ChaosRun> runs = new ArrayList<>();
    if (file != null && Files.exists(file)) {
      String lines = Files.readString(file);
      // A series that was cut off may have left a part of a line.
      for (String line : lines.substring(0, lines.lastIndexOf('\n') + 1).lines().toList()) {
        runs.add(run(JSON.readValue(line, Line.class)));
      }
    }
    return runs;
  }

  private ChaosRun run(Line line) throws IOException {
    if (!commit.equals(line.commit())) {
      throw new IOException(
          "%s has runs of commit %s, and this is %s: give another file"
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
