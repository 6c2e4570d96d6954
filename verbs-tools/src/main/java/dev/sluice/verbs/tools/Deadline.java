// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import java.io.IOException;
import picocli.CommandLine.Option;

/**
 * The time limit of a command, as a command-line option. Counts from the creation of the command.
 * {@link VerbsCommand} finds the option by its name and abandons a command that exceeds it.
 */
final class Deadline implements dev.sluice.examples.Deadline {
  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "Give up after this many seconds in total (default: ${DEFAULT-VALUE})")
  private int timeoutSeconds = 60;

  private final long startNanos = System.nanoTime();

  @Override
  public int leftMs(String awaited) throws IOException {
    return dev.sluice.examples.Deadline.leftMs(startNanos, timeoutSeconds, awaited, " (--timeout)");
  }
}
