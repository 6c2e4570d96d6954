// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.bench;

import dev.sluice.benchmarks.node.NodeCommand;
import dev.sluice.benchmarks.verbs.ReadCommand;
import dev.sluice.benchmarks.verbs.RowCommand;
import dev.sluice.benchmarks.stage.StageCommand;
import dev.sluice.benchmarks.start.StartCommand;
import dev.sluice.benchmarks.storm.StormCommand;
import dev.sluice.benchmarks.terasort.TeraSortCommand;
import dev.sluice.benchmarks.tpcds.TpcdsCommand;
import dev.sluice.benchmarks.verbs.ReadLoopCommand;
import dev.sluice.testkit.Usage;
import dev.sluice.testkit.Usage.JavaOption;
import dev.sluice.testkit.Usage.SparkOption;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/**
 * The command bin/bench, with a subcommand for each benchmark. A new benchmark is added here and,
 * if {@code bench all} shall run it, in {@code parts.txt}.
 */
@Command(
    name = "bench",
    description = {
      "Measure Sluice and a partner: stock Spark, its shuffle service or perftest.",
      "\"bench --quick\" is short for \"bench all --quick\"."
    },
    subcommands = {
      AllCommand.class,
      NodeCommand.class,
      ReadCommand.class,
      StageCommand.class,
      StartCommand.class,
      StormCommand.class,
      TeraSortCommand.class,
      ReportCommand.class,
      RowCommand.class,
      TpcdsCommand.class,
      ReadLoopCommand.class
    })
public final class BenchCommand {
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      scope = ScopeType.INHERIT,
      description = "Show this help and exit")
  @SuppressWarnings("UnusedVariable") // picocli reads it
  private boolean help;

  @Option(
      names = SparkOption.NAME,
      paramLabel = SparkOption.LABEL,
      scope = ScopeType.INHERIT,
      description = SparkOption.DESCRIPTION)
  private String spark;

  @Option(
      names = JavaOption.NAME,
      paramLabel = JavaOption.LABEL,
      scope = ScopeType.INHERIT,
      description = JavaOption.DESCRIPTION)
  private String java;

  private BenchCommand() {}

  /** Returns the Spark version for all parts; null for the default. */
  @Nullable String spark() {
    return spark;
  }

  /** Returns the JDK's release for all parts; null for the default. */
  @Nullable String java() {
    return java;
  }

  public static void main(String[] arguments) {
    Usage.run(BenchCommand::commandLine, arguments);
  }

  static CommandLine commandLine() {
    return new CommandLine(new BenchCommand()).setCaseInsensitiveEnumValuesAllowed(true);
  }
}
