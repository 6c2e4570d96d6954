// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import dev.sluice.benchmarks.Benchmark;
import dev.sluice.benchmarks.storm.StormCase.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command bin/bench storm: reduce stages over many small blocks, by Sluice and stock. */
@Command(
    name = "storm",
    sortOptions = false,
    description = {
      "Measure reduce stages over many small blocks, compared with the stock shuffle",
      "Seven storms run unless options choose one."
    })
public final class StormCommand extends Benchmark {
  @Option(
      names = "--workload",
      description = "Workload: ${COMPLETION-CANDIDATES} (default: rdd-kryo)")
  private Workload workload;

  @Option(names = "--maps", paramLabel = "N", description = "Map tasks (default: 400)")
  private Integer maps;

  @Option(
      names = "--partitions",
      paramLabel = "N",
      description = "Reduce partitions (default: 400)")
  private Integer partitions;

  @Option(
      names = "--block-bytes",
      paramLabel = "N",
      description = "Approximate bytes of a block (default: 1000)")
  private Long blockBytes;

  @Option(
      names = "--cold",
      description = "Drop map outputs from the page cache before each run of the reduce stage")
  private boolean cold;

  @Option(
      names = "--new-shuffles",
      description =
          "Write a new shuffle in each repetition, and measure its map stage and the whole job, too")
  private boolean newShuffles;

  @Mixin private StormRunner runner;

  @Override
  protected void measure(Path directory) throws IOException, InterruptedException {
    List<StormCase> cases = cases();
    progress.expect(cases.size() * runner.processes());
    for (StormCase storm : cases) {
      StormRounds rounds = runner.run(directory, storm, progress);
      problems.addAll(rounds.problems());
      if (rounds.problems().isEmpty()) {
        rows.addAll(rounds.comparisons());
        out().println("device  " + rounds.devices());
      }
    }
    StormRounds.growth(rows).ifPresent(rows::add);
  }

  /** Returns the case that the options choose, or all. */
  List<StormCase> cases() {
    if (newShuffles && workload == Workload.RDD_ITERATIVE) {
      throw misuse("--new-shuffles: each repetition of rdd-iterative writes new shuffles");
    }
    boolean chosen =
        cold
            || newShuffles
            || Stream.of(workload, maps, partitions, blockBytes).anyMatch(Objects::nonNull);
    return chosen
        ? List.of(
            new StormCase(
                Objects.requireNonNullElse(workload, Workload.RDD_KRYO),
                Objects.requireNonNullElse(maps, 400),
                Objects.requireNonNullElse(partitions, 400),
                Objects.requireNonNullElse(blockBytes, 1000L),
                cold,
                newShuffles))
        : StormCase.ALL;
  }
}
