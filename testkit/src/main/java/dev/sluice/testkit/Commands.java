// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Runs programs of the operating system and waits for their end. Their errors go to this process's.
 * Any thread of a benchmark's command or driver may call it.
 */
public final class Commands {
  /** Deadline of a command that is short: only a hang reaches it. */
  private static final long SHORT_SECONDS = 300;

  private Commands() {}

  /**
   * Runs a short command to its end.
   *
   * @throws IOException if its status is not 0, or if it hangs
   */
  public static void run(List<String> command) throws IOException {
    await(start(command), command, SHORT_SECONDS);
  }

  /** Starts a command. Discards its standard output, since this process's own is for results. */
  public static Process start(List<String> command) throws IOException {
    return new ProcessBuilder(command)
        .redirectOutput(Redirect.DISCARD)
        .redirectError(Redirect.INHERIT)
        .start();
  }

  /**
   * Runs a command to its end, or kills it after a time. Returns its standard output.
   *
   * @throws IOException if its status is not 0, as after a kill
   */
  public static String output(List<String> command, long timeoutSeconds) throws IOException {
    Process process = new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
    CompletableFuture.delayedExecutor(timeoutSeconds, TimeUnit.SECONDS)
        .execute(process::destroyForcibly);
    try (InputStream out = process.getInputStream()) {
      String text = new String(out.readAllBytes(), StandardCharsets.UTF_8);
      await(process, command, timeoutSeconds);
      return text;
    } finally {
      process.destroyForcibly();
    }
  }

  /**
   * Waits for the end of a command's process, and kills it after a time.
   *
   * @throws IOException if its status is not 0, or the time is over
   */
  public static void await(Process process, List<String> command, long timeoutSeconds)
      throws IOException {
    try {
      if (!process.waitFor(timeoutSeconds, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IOException(
            String.join(" ", command) + " did not end within " + timeoutSeconds + " s");
      }
      if (process.exitValue() != 0) {
        throw new IOException(
            String.join(" ", command) + " ended with status " + process.exitValue());
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
