package dev.sluice.benchmarks.storm;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.RunDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Reduce stages over many small blocks: Sluice, the stock shuffle and the oracle in turn. */
@Command(
    name = "storm",
    sortOptions = false,
    description = {
      "Reduce stages over many small blocks, beside the stock shuffle and beside an",
      "oracle: a client that costs nothing on the wire, under Spark's own iterator.",
      "Without options that choose a storm: those that have goals. Started again with",
      "the same --json FILE it goes on: storms whose rows are there are skipped."
    })
public final class StormCommand implements Callable<Integer> {
  @Option(
      names = "--workload",
      description =
          "rdd-kryo, rdd-java, rdd-cogroup, rdd-join, rdd-iterative, sql-repartition or sql-aggregate (default:"
              + " rdd-kryo)")
  private Workload workload;

  @Option(names = "--maps", description = "Map tasks (default: 400)")
  private Integer maps;

  @Option(names = "--partitions", description = "Reduce partitions (default: 400)")
  private Integer partitions;

  @Option(names = "--block-bytes", description = "Bytes of a block, about (default: 1000)")
  private Long blockBytes;

  @Option(
      names = "--compress",
      arity = "1",
      description = "spark.shuffle.compress: true or false (default: true for SQL)")
  private Boolean compress;

  @Option(
      names = "--host-local",
      arity = "1",
      description = "spark.shuffle.readHostLocalDisk: true or false (default: false)")
  private Boolean hostLocal;

  @Option(
      names = "--grid",
      description = "After those with goals others of more sizes, compressed or not, host-local")
  private boolean grid;

  @Mixin private StormRunner runner;

  @Mixin private ComparisonOutput output;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path directory = RunDirectory.of("storm");
    List<Comparison> rows = new ArrayList<>(output.kept());
    List<String> problems = new ArrayList<>();
    for (StormCase storm : cases()) {
      if (StormFigures.isIn(rows, storm)) {
        continue;
      }
      StormRounds rounds = runner.run(directory, storm, storm.shuffles());
      problems.addAll(rounds.problems());
      if (rounds.problems().isEmpty()) {
        rows.addAll(StormFigures.comparisons(rounds));
        output.out().println(StormFigures.table(rounds));
        output.keep(rows);
      }
    }
    StormFigures.growth(rows).ifPresent(rows::add);
    return output.write(rows, problems);
  }

  /** The one that is chosen, or those that have goals, and others if they are wanted. */
  List<StormCase> cases() {
    boolean chosen =
        Stream.of(workload, maps, partitions, blockBytes, compress, hostLocal)
            .anyMatch(option -> option != null);
    if (!chosen) {
      return grid
          ? Stream.concat(StormGoals.cases().stream(), StormGrid.cases().stream()).toList()
          : StormGoals.cases();
    }
    Workload of = orElse(workload, Workload.RDD_KRYO);
    return List.of(
        new StormCase(
            of,
            orElse(maps, 400),
            orElse(partitions, 400),
            orElse(blockBytes, 1000L),
            orElse(compress, of.compressed()),
            orElse(hostLocal, false),
            false));
  }

  private static <T> T orElse(T value, T otherwise) {
    return value != null ? value : otherwise;
  }
}
