// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.List;

/**
 * Runs programs of the operating system and waits for their end. Any thread of a benchmark's
 * command or driver may call it.
 */
public final class Commands {
  private Commands() {}

  /**
   * Runs a command to its end. Discards its standard output, since this process's own is for
   * results.
   *
   * @throws IOException if its status is not 0
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

  /** Drops the file's pages from the page cache, except pages that are pinned or mapped. */
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

  /** Returns true if this process runs as root. */
  public static boolean isRoot() {
    return System.getProperty("user.name").equals("root");
  }
}
