package dev.sluice.benchmarks.storm;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.RunDirectory;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.storm.StormRounds.Side;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * CPU time, user and system, that reading a shuffle takes in all executor processes; and, with the
 * map outputs on one executor and the reduce tasks on the other, that of either side.
 */
@Command(
    name = "cpu",
    sortOptions = false,
    description = {
      "CPU time of the executors while they read a shuffle, beside the stock shuffle:",
      "of all together, and of the reading and the serving one apart."
    })
public final class CpuCommand implements Callable<Integer> {
  /**
   * A shuffle, and what its CPU time is for.
   *
   * @param divisor how much of {@code unit}'s divisor the shuffle is
   * @param goal for all executors together
   */
  private record Load(StormCase storm, String unit, double divisor, double goal) {
    static final StormCase SMALL = StormCase.of(Workload.RDD_KRYO, 400, 400, 1000);
    static final StormCase LARGE = StormCase.of(Workload.RDD_KRYO, 32, 32, 1 << 20);
    static final List<Load> ALL =
        List.of(
            new Load(SMALL, "s/100000", SMALL.blocks() / 1e5, 1 / 3.0),
            new Load(LARGE, "s/GB", LARGE.bytes() / 1e9, 0.8));

    Comparison compare(StormRounds rounds, Side side, String suffix, Double goal) {
      return rounds.compareCpu("cpu-" + storm.name() + suffix, unit, side, divisor, goal);
    }
  }

  @Option(
      names = "--together",
      description = "Only of all executors together, for which there are goals")
  private boolean together;

  @Mixin private StormRunner runner;

  @Mixin private ComparisonOutput output;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path directory = RunDirectory.of("cpu");
    List<Comparison> comparisons = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    for (Load load : Load.ALL) {
      StormRounds all = runner.run(directory, load.storm(), Shuffle.PAIR);
      problems.addAll(all.problems());
      if (all.problems().isEmpty()) {
        comparisons.add(load.compare(all, Side.BOTH, "", load.goal()));
      }
      if (together) {
        continue;
      }
      StormRounds apart = runner.run(directory, load.storm().withSidesApart(), Shuffle.PAIR);
      problems.addAll(apart.problems());
      if (apart.problems().isEmpty()) {
        comparisons.add(load.compare(apart, Side.READING, "-reading", null));
        comparisons.add(load.compare(apart, Side.SERVING, "-serving", null));
      }
    }
    return output.write(comparisons, problems);
  }
}
