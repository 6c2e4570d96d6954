package dev.sluice.benchmarks;

import dev.sluice.benchmarks.checksum.ChecksumCommand;
import dev.sluice.benchmarks.postpoll.PostPollCommand;
import dev.sluice.benchmarks.publish.PublishCommand;
import dev.sluice.benchmarks.read.ReadCommand;
import dev.sluice.benchmarks.registration.RegistrationCommand;
import dev.sluice.benchmarks.verbs.VerbsReadCommand;
import java.io.PrintStream;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command bin/bench: single figures, each beside what it has to be compared with. */
@Command(name = "bench", description = "Measures one thing beside its partner.")
public final class BenchCommand {
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this and exit")
  private boolean help;

  private BenchCommand() {}

  public static void main(String[] arguments) {
    PrintStream out = StandardOutput.claim();
    CommandLine command = new CommandLine(new BenchCommand());
    command.addSubcommand(new ReadCommand(out));
    command.addSubcommand(new RegistrationCommand(out));
    command.addSubcommand(new PublishCommand(out));
    command.addSubcommand(new ChecksumCommand(out));
    command.addSubcommand(new PostPollCommand(out));
    command.addSubcommand(new VerbsReadCommand(out));
    command.setOut(new PrintWriter(out, true));
    System.exit(command.execute(arguments));
  }
}
