// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Reads and writes JSON files: results that processes exchange, and state of runs to resume. One
 * process at a time may write a file, as the partial file has a fixed name; any may read it.
 */
public final class JsonFile {
  private static final ObjectMapper JSON = new ObjectMapper();

  private JsonFile() {}

  public static <T> T read(Path file, Class<T> type) throws IOException {
    return JSON.readValue(file.toFile(), type);
  }

  /** Replaces the file atomically: a reader sees the old or the new content, never a part. */
  public static void write(Path file, Object content) throws IOException {
    writeText(file, JSON.writeValueAsString(content));
  }

  /** Does the same with text that is JSON already. */
  public static void writeText(Path file, String json) throws IOException {
    Path partial = file.resolveSibling(file.getFileName() + ".partial");
    Files.writeString(partial, json);
    Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE);
  }
}
