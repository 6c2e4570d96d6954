package dev.sluice.rdma.tools;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Option;

/**
 * The time at which a command gives up, whatever it waits for. An option of the commands; counts
 * from when the command was made.
 */
final class Deadline {
  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "Give up after so many seconds in all (default: ${DEFAULT-VALUE})")
  private int timeoutSeconds = 60;

  private final long startNanos = System.nanoTime();

  /**
   * Milliseconds left, at least 1.
   *
   * @param awaited what the command waits for
   * @throws IOException when it is over
   */
  int leftMs(String awaited) throws IOException {
    long left = startNanos + TimeUnit.SECONDS.toNanos(timeoutSeconds) - System.nanoTime();
    if (left <= 0) {
      throw new IOException(awaited + ": not within " + timeoutSeconds + " s (--timeout)");
    }
    return Math.clamp(TimeUnit.NANOSECONDS.toMillis(left), 1, Integer.MAX_VALUE);
  }
}
