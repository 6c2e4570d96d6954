// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/**
 * The command bin/verbs. Its exit status is 0 for success, 2 for wrong arguments, and 1 for any
 * other failure, which it prints in one line. A command with a deadline runs on a daemon thread,
 * for which the main thread waits; the others run on the main thread.
 */
@Command(
    name = "verbs",
    description = "Shows RDMA devices, and tests them together with the usual C programs.",
    subcommands = {
      DevicesCommand.class,
      InfoCommand.class,
      WatchCommand.class,
      PingPongCommand.class,
      XsrqPingPongCommand.class,
      RcExampleCommand.class,
      RpingCommand.class,
      CmCommand.Client.class,
      CmCommand.Server.class,
      CmCommand.Mckey.class,
      CmCommand.Udaddy.class,
      BandwidthCommand.class,
      LatencyCommand.class
    })
final class VerbsCommand implements Runnable {
  /** Time for commands to give up by themselves. */
  private static final long GRACE_SECONDS = 2;

  @Spec private CommandSpec spec;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      scope = ScopeType.INHERIT,
      description = "Show this and exit")
  @SuppressWarnings("UnusedVariable") // picocli reads it
  private boolean help;

  private VerbsCommand() {}

  public static void main(String[] arguments) {
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    System.exit(commandLine(out, err).execute(arguments));
  }

  static CommandLine commandLine(PrintWriter out, PrintWriter err) {
    return new CommandLine(new VerbsCommand())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionStrategy(VerbsCommand::run)
        .setParameterExceptionHandler(VerbsCommand::misused)
        .setExecutionExceptionHandler(VerbsCommand::failed)
        .setOut(out)
        .setErr(err);
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing command");
  }

  /**
   * Runs a command. Abandons it if a C call does not return by the deadline: rdma_cm waits for its
   * peer as long as the kernel does.
   */
  private static int run(ParseResult parsed) {
    CommandLine command = parsed.asCommandLineList().getLast();
    OptionSpec timeout = command.getCommandSpec().findOption("--timeout");
    if (timeout == null) {
      return new RunLast().execute(parsed);
    }
    FutureTask<Integer> run = new FutureTask<>(() -> new RunLast().execute(parsed));
    Thread.ofPlatform().daemon().start(run);
    int seconds = timeout.getValue();
    try {
      return run.get(seconds + GRACE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw (RuntimeException) e.getCause();
    } catch (TimeoutException | InterruptedException e) {
      IOException failure =
          new IOException(
              "a call of a C function did not return within " + seconds + " s (--timeout)");
      throw new CommandLine.ExecutionException(command, failure.getMessage(), failure);
    }
  }

  private static int misused(ParameterException misuse, String[] arguments) {
    CommandLine command = misuse.getCommandLine();
    String name = command.getCommandSpec().qualifiedName();
    command.getErr().println(name + ": " + misuse.getMessage() + "; see --help");
    return CommandLine.ExitCode.USAGE;
  }

  /** Prints a failure of a device, a peer or a socket in one line. Any other exception is a bug. */
  private static int failed(Exception failure, CommandLine command, ParseResult parsed)
      throws Exception {
    if (!(failure instanceof IOException)) {
      throw failure;
    }
    command.getErr().println(command.getCommandSpec().qualifiedName() + ": " + reason(failure));
    return CommandLine.ExitCode.SOFTWARE;
  }

  private static String reason(Exception failure) {
    return failure.getMessage() == null ? failure.toString() : failure.getMessage();
  }
}
