// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.Deadline;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * A command of bin/verbs. Its subclass has the options as fields. picocli fills them in and calls
 * the command once, on one thread.
 */
abstract class ToolCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  /** Does the work, after it has refused wrong options by {@link #require}. */
  abstract void run() throws IOException;

  @Override
  public final Integer call() throws IOException {
    run();
    return ExitCode.OK;
  }

  final PrintWriter out() {
    return spec.commandLine().getOut();
  }

  /** Ends the command as misused unless the condition holds. */
  final void require(boolean condition, String message) {
    if (!condition) {
      throw new ParameterException(spec.commandLine(), message);
    }
  }

  /**
   * A command with a time limit, which counts from the creation of the command. {@link
   * VerbsCommand} finds the option by its name and abandons a command that exceeds it.
   */
  abstract static class Timed extends ToolCommand implements Deadline {
    @Option(
        names = "--timeout",
        paramLabel = "SECONDS",
        description = "Give up after this many seconds in total (default: ${DEFAULT-VALUE})")
    private int timeoutSeconds = 60;

    private final long startNanos = System.nanoTime();

    @Override
    public final int leftMs(String awaited) throws IOException {
      return Deadline.leftMs(startNanos, timeoutSeconds, awaited, " (--timeout)");
    }
  }
}
