// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Deletes directory trees, which java.nio.file lacks. Any thread may call it. */
public final class Directories {
  private Directories() {}

  /**
   * Deletes a directory with its content; does not follow symbolic links. Tolerates executors that
   * delete entries at the same time.
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
