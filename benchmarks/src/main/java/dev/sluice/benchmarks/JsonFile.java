package dev.sluice.benchmarks;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Objects in files, as JSON: what processes tell each other, and what a run goes on from. */
public final class JsonFile {
  private static final ObjectMapper JSON = new ObjectMapper();

  private JsonFile() {}

  public static <T> T read(Path file, Class<T> type) throws IOException {
    return JSON.readValue(file.toFile(), type);
  }

  /** Whoever reads it meanwhile, or after this was interrupted, finds what was there before. */
  public static void write(Path file, Object content) throws IOException {
    writeText(file, JSON.writeValueAsString(content));
  }

  /** The same, of what is JSON already. */
  static void writeText(Path file, String json) throws IOException {
    Path partial = file.resolveSibling(file.getFileName() + ".partial");
    Files.writeString(partial, json);
    Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE);
  }
}
