package dev.sluice.benchmarks;

import dev.sluice.benchmarks.read.ReadCommand;
import java.io.PrintStream;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The command bin/bench: single figures, each beside what it has to be compared with. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = "Measures one thing beside its partner.")
public final class BenchCommand {
  private BenchCommand() {}

  public static void main(String[] arguments) {
    PrintStream out = StandardOutput.claim();
    CommandLine command = new CommandLine(new BenchCommand());
    command.addSubcommand(new ReadCommand(out));
    command.setOut(new PrintWriter(out, true));
    System.exit(command.execute(arguments));
  }
}
