// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.bench;

import dev.sluice.benchmarks.mapreduce.CopyCommand;
import dev.sluice.benchmarks.node.NodeCommand;
import dev.sluice.benchmarks.stage.StageCommand;
import dev.sluice.benchmarks.start.StartCommand;
import dev.sluice.benchmarks.storm.StormCommand;
import dev.sluice.benchmarks.tail.TailCommand;
import dev.sluice.benchmarks.terasort.TeraSortCommand;
import dev.sluice.benchmarks.tpcds.TpcdsCommand;
import dev.sluice.benchmarks.verbs.ReadCommand;
import dev.sluice.benchmarks.verbs.ReadLoopCommand;
import dev.sluice.benchmarks.verbs.RowCommand;
import dev.sluice.testkit.Usage;
import dev.sluice.testkit.Usage.CommonOptions;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * The command bin/bench, with a subcommand for each benchmark. Its main thread creates the
 * subcommands and runs the chosen one. A new benchmark is added here and, if {@code bench all}
 * shall run it, in {@code parts.txt}.
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
      CopyCommand.class,
      StageCommand.class,
      StartCommand.class,
      StormCommand.class,
      TailCommand.class,
      TeraSortCommand.class,
      ReportCommand.class,
      RowCommand.class,
      TpcdsCommand.class,
      ReadLoopCommand.class
    })
public final class BenchCommand {
  @Mixin private CommonOptions common;

  private BenchCommand() {}

  /** Returns the versions for all parts, as options of their commands. */
  List<String> versions() {
    return common.versions();
  }

  public static void main(String[] arguments) {
    Usage.run(BenchCommand::commandLine, arguments);
  }

  static CommandLine commandLine() {
    return new CommandLine(new BenchCommand()).setCaseInsensitiveEnumValuesAllowed(true);
  }
}
