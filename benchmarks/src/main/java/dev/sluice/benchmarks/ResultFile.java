// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.testkit.JsonFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A file of results: a JSON list, one row per line. Commands use it on their thread; one process at
 * a time may write it.
 */
public final class ResultFile {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path file;

  public ResultFile(Path file) {
    this.file = file.toAbsolutePath();
  }

  /** Returns the rows; none if there is no file. */
  public List<Comparison> read() throws IOException {
    if (!Files.exists(file)) {
      return List.of();
    }
    return List.of(JsonFile.read(file, Comparison[].class));
  }

  /** Replaces the file atomically: after an interruption the old file is still there. */
  public void write(List<Comparison> rows) throws IOException {
    List<String> lines = new ArrayList<>();
    for (Comparison row : rows) {
      lines.add(JSON.writeValueAsString(row));
    }
    JsonFile.writeText(file, "[\n" + String.join(",\n", lines) + "\n]\n");
  }

  /** Adds rows. A row replaces an earlier row of the same name. */
  public void add(List<Comparison> rows) throws IOException {
    Map<String, Comparison> byName = new LinkedHashMap<>();
    read().forEach(row -> byName.put(row.name(), row));
    rows.forEach(row -> byName.put(row.name(), row));
    write(List.copyOf(byName.values()));
  }
}
