package dev.sluice.benchmarks;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** What java.nio.file lacks for directories. */
public final class Directories {
  private Directories() {}

  /**
   * Deletes a directory with everything in it; symbolic links are not followed. Executors that end
   * may delete in it, too.
   */
  public static void delete(Path directory) throws IOException {
    if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
        for (Path entry : entries) {
          delete(entry);
        }
      } catch (NoSuchFileException e) {
        // It was deleted meanwhile.
      }
    }
    Files.deleteIfExists(directory);
  }
}
