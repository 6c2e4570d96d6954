// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Makes a directory for the files of one run, named after its process. A command calls it once,
 * before its work, and deletes the directory after a success. The next run deletes the directories
 * of ended processes: logs of a failure, or everything if the process was killed.
 */
public final class RunDirectory {
  private static final String PREFIX = "run-";

  private RunDirectory() {}

  /** Creates this process's directory under that of the command. */
  public static Path of(String command) throws IOException {
    return create(Installation.fromEnvironment().data().resolve(command));
  }

  /** Creates this process's directory; the caller deletes it. */
  static Path create(Path parent) throws IOException {
    Files.createDirectories(parent);
    try (DirectoryStream<Path> runs = Files.newDirectoryStream(parent, PREFIX + "*")) {
      for (Path run : runs) {
        long process = Long.parseLong(run.getFileName().toString().substring(PREFIX.length()));
        if (process == ProcessHandle.current().pid() || ProcessHandle.of(process).isEmpty()) {
          Directories.delete(run);
        }
      }
    }
    return Files.createDirectory(parent.resolve(PREFIX + ProcessHandle.current().pid()));
  }
}
