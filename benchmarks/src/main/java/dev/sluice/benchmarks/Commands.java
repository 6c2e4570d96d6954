package dev.sluice.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.List;

/** Programs of the operating system. */
public final class Commands {
  private Commands() {}

  /**
   * Runs one to its end; standard output of ours is for results, and it has none.
   *
   * @throws IOException when its status is not 0
   */
  public static void run(List<String> command) throws IOException {
    try {
      int status =
          new ProcessBuilder(command)
              .redirectOutput(Redirect.DISCARD)
              .redirectError(Redirect.INHERIT)
              .start()
              .waitFor();
      if (status != 0) {
        throw new IOException(String.join(" ", command) + " ended with status " + status);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(String.join(" ", command) + " was interrupted");
    }
  }

  /** What of it is in the page cache and is not pinned or mapped has to be read from disk again. */
  public static void dropFromCache(Path file) throws IOException {
    run(
        List.of(
            "dd",
            "of=" + file,
            "oflag=nocache",
            "conv=notrunc,fdatasync",
            "count=0",
            "status=none"));
  }

  /** What of it is in the page cache. */
  public static long cachedBytes(Path file) throws IOException {
    ProcessBuilder fincore =
        new ProcessBuilder("fincore", "--bytes", "--noheadings", "--output", "RES", "" + file);
    try (BufferedReader out = fincore.redirectError(Redirect.INHERIT).start().inputReader()) {
      return Long.parseLong(out.readLine().strip());
    }
  }

  /** Whether this process may do what only root may. */
  public static boolean isRoot() {
    return System.getProperty("user.name").equals("root");
  }
}
