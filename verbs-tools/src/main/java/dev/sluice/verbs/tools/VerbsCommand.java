// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;

/**
 * The command bin/verbs. Its main thread creates the subcommands and runs the chosen one. The exit
 * status is 0 for success, 2 for wrong arguments, and 1 for any other failure, which it prints in
 * one line.
 */
@Command(
    name = "verbs",
    description = "Shows RDMA devices, and tests them together with the usual C programs.",
    subcommands = {
      InfoCommand.Devices.class,
      InfoCommand.class,
      WatchCommand.class,
      PingPongCommand.class,
      XsrqPingPongCommand.class,
      PeerCommand.Example.class,
      RpingCommand.class,
      CmCommand.Client.class,
      CmCommand.Server.class,
      CmCommand.Mckey.class,
      CmCommand.Udaddy.class,
      BandwidthCommand.class,
      LatencyCommand.class
    })
final class VerbsCommand {
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
        .setParameterExceptionHandler(VerbsCommand::misused)
        .setExecutionExceptionHandler(VerbsCommand::failed)
        .setOut(out)
        .setErr(err);
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
    String reason = Objects.requireNonNullElse(failure.getMessage(), failure.toString());
    command.getErr().println(command.getCommandSpec().qualifiedName() + ": " + reason);
    return CommandLine.ExitCode.SOFTWARE;
  }
}
