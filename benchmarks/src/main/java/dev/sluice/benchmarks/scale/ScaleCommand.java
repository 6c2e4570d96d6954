package dev.sluice.benchmarks.scale;

import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.Pairs;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What the driver's directory takes, which grows with executors and map outputs, by Sluice's own
 * classes in one process: each figure beside Spark's for the same, or that of a smaller number.
 */
@Command(name = "scale", description = "What the driver's directory takes, beside Spark's own")
public final class ScaleCommand implements Callable<Integer> {
  /** Executors that publish map outputs. */
  private static final int PUBLISHERS = 1000;

  private static final int MAP_OUTPUTS = 100_000;
  private static final int PARTITIONS = 10_000;

  /** What growth is measured against has one in so many. */
  private static final int FEWER_MAPS = 10;

  @Option(
      names = "--rounds",
      defaultValue = "3",
      description = "Measurements of each (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Mixin private ComparisonOutput output;

  @Override
  public Integer call() throws Exception {
    Pairs pairs = new Pairs();
    new DirectoryScale(PUBLISHERS, MAP_OUTPUTS, PARTITIONS, rounds).measure(FEWER_MAPS, pairs);
    return output.write(pairs.comparisons());
  }
}
