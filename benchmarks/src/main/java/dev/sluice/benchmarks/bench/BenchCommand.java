package dev.sluice.benchmarks.bench;

import dev.sluice.benchmarks.StandardOutput;
import dev.sluice.benchmarks.engine.EngineCommand;
import dev.sluice.benchmarks.node.NodeCommand;
import dev.sluice.benchmarks.read.ReadCommand;
import dev.sluice.benchmarks.report.ReportCommand;
import dev.sluice.benchmarks.stage.StageCommand;
import dev.sluice.benchmarks.storm.StormCommand;
import dev.sluice.benchmarks.terasort.TeraSortCommand;
import dev.sluice.benchmarks.tpcds.TpcdsCommand;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The command bin/bench: everything that is measured, each beside what it is compared with. */
@Command(
    name = "bench",
    description = {
      "Measures Sluice beside its partners: stock Spark, its shuffle service, perftest.",
      "bench --quick is bench all --quick."
    },
    subcommands = {
      AllCommand.class,
      EngineCommand.class,
      NodeCommand.class,
      ReadCommand.class,
      StageCommand.class,
      StormCommand.class,
      TeraSortCommand.class,
      ReportCommand.class,
      TpcdsCommand.class
    })
public final class BenchCommand {
  private static final List<String> HELP = List.of("-h", "--help");

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      scope = ScopeType.INHERIT,
      description = "Show this and exit")
  private boolean help;

  private BenchCommand() {}

  public static void main(String[] arguments) {
    StandardOutput.run(
        () -> new CommandLine(new BenchCommand()).setCaseInsensitiveEnumValuesAllowed(true),
        withCommand(arguments));
  }

  /** Options without a command are those of all; nothing at all is a question. */
  static String[] withCommand(String... arguments) {
    if (arguments.length == 0) {
      return new String[] {"--help"};
    }
    if (!arguments[0].startsWith("-") || HELP.contains(arguments[0])) {
      return arguments;
    }
    return Stream.concat(Stream.of("all"), Stream.of(arguments)).toArray(String[]::new);
  }
}
