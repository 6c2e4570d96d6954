package dev.sluice.benchmarks;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A directory for what one run writes, named after its process. What runs left whose process has
 * ended (the logs of a failure, or everything when it was killed) goes when the next one begins.
 */
public final class RunDirectory {
  private static final String PREFIX = "run-";

  private RunDirectory() {}

  /** Makes this process's directory among what the command of that name writes. */
  public static Path of(String command) throws IOException {
    return create(Installation.fromEnvironment().data().resolve(command));
  }

  /** Makes this process's directory; whoever calls deletes it. */
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
