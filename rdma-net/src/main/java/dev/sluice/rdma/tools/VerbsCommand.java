package dev.sluice.rdma.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/**
 * The command bin/verbs. Exit status 0 for success, 1 for a failure, which is told in one line, 2
 * for wrong arguments.
 */
@Command(
    name = "verbs",
    description = "Looks at RDMA devices, and tries them out together with the usual C programs.",
    subcommands = {
      DevicesCommand.class,
      InfoCommand.class,
      WatchCommand.class,
      PingPongCommand.class,
      RpingCommand.class,
      BandwidthCommand.class,
      LatencyCommand.class,
      RowCommand.class
    })
final class VerbsCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      scope = ScopeType.INHERIT,
      description = "Show this and exit")
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

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing command");
  }

  private static int misused(ParameterException misuse, String[] arguments) {
    CommandLine command = misuse.getCommandLine();
    String name = command.getCommandSpec().qualifiedName();
    command.getErr().println(name + ": " + misuse.getMessage());
    command.getErr().println("Try '" + name + " --help'.");
    return CommandLine.ExitCode.USAGE;
  }

  /** What devices, peers and sockets refuse is told in words; anything else is a bug of ours. */
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
