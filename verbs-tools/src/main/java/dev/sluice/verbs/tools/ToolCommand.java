// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.Deadline;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * A command of bin/verbs, whose subclass has the options as fields. picocli creates the commands
 * that {@link VerbsCommand} names. It sets the fields of one and calls it once, on the main thread.
 * {@link Timed} runs a command on a daemon thread instead.
 */
abstract class ToolCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  /** Does the work of the command, after it has refused wrong options by {@link #require}. */
  abstract void run() throws IOException;

  @Override
  public Integer call() throws Exception {
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

  /** A command with a time limit, which counts from the creation of the command. */
  abstract static class Timed extends ToolCommand implements Deadline {
    /** Time for commands to give up by themselves. */
    private static final long GRACE_SECONDS = 2;

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

    /**
     * Runs the command on a daemon thread, where {@link #leftMs} fails at the limit. Abandons the
     * thread 2 s later if a C call does not return: rdma_cm waits for its peer as long as the
     * kernel does.
     */
    @Override
    public final Integer call() throws Exception {
      FutureTask<Integer> run = new FutureTask<>(super::call);
      Thread.ofPlatform().daemon().start(run);
      try {
        return run.get(timeoutSeconds + GRACE_SECONDS, TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        if (e.getCause() instanceof Exception failure) {
          throw failure;
        }
        throw (Error) e.getCause();
      } catch (TimeoutException e) {
        throw new IOException(
            "a call of a C function did not return within " + timeoutSeconds + " s (--timeout)");
      }
    }
  }
}
