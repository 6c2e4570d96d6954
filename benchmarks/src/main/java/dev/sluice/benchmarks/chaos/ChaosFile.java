package dev.sluice.benchmarks.chaos;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** Runs in a file, one JSON object a line, so that nothing is lost when a series is cut off. */
final class ChaosFile {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path file;

  /**
   * @param file null for none
   */
  ChaosFile(Path file) {
    this.file = file;
  }

  List<ChaosRun> read() throws IOException {
    List<ChaosRun> runs = new ArrayList<>();
    if (file != null && Files.exists(file)) {
      String lines = Files.readString(file);
      // A series that was cut off may have left a part of a line.
      lines.substring(0, lines.lastIndexOf('\n') + 1).lines().forEach(line -> runs.add(run(line)));
    }
    return runs;
  }

  private static ChaosRun run(String line) {
    try {
      return JSON.readValue(line, ChaosRun.class);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  void add(ChaosRun run) throws IOException {
    if (file != null) {
      Files.writeString(
          file,
          JSON.writeValueAsString(run) + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    }
  }
}
