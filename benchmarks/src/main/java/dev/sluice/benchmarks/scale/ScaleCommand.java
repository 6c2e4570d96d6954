package dev.sluice.benchmarks.scale;

import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.Pairs;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What grows with executors, map outputs and partitions, by Sluice's own classes in one process:
 * each figure beside Spark's for the same, or beside that of a smaller number.
 */
@Command(
    name = "scale",
    description = "What grows with executors, map outputs and partitions; and a model of more")
public final class ScaleCommand implements Callable<Integer> {
  /**
   * How much there is of everything.
   *
   * @param executors whose network parts are in this process
   * @param mapOutputs published by {@code publishers} executors
   * @param reads of one measurement of a rate
   */
  private record Size(int executors, int publishers, int mapOutputs, int partitions, int reads) {
    static final Size FULL = new Size(64, 1000, 100_000, 10_000, 200_000);
    static final Size QUICK = new Size(32, 100, 10_000, 10_000, 50_000);
  }

  // What growth is measured against has one in so many.
  private static final int FEWER_EXECUTORS = 4;
  private static final int FEWER_MAPS = 10;

  @Option(
      names = "--rounds",
      defaultValue = "3",
      description = "Measurements of each (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Option(names = "--quick", description = "Half of the executors, a tenth of the map outputs")
  private boolean quick;

  @Option(names = "--model", description = "Measure nothing, print the model of docs/scale.md")
  private boolean model;

  @Mixin private ComparisonOutput output;

  @Override
  public Integer call() throws Exception {
    if (model) {
      output.out().print(ScaleModel.tables());
      return 0;
    }
    Size size = quick ? Size.QUICK : Size.FULL;
    Pairs pairs = new Pairs();
    System.err.println(size.executors() + " executors");
    new EndpointScale(size.executors() / FEWER_EXECUTORS, size.executors(), rounds, size.reads())
        .measure(pairs);
    System.err.println(size.mapOutputs() + " map outputs");
    new DirectoryScale(size.publishers(), size.mapOutputs(), size.partitions(), rounds)
        .measure(FEWER_MAPS, pairs);
    System.err.println(size.partitions() + " partitions");
    new TableScale(size.publishers(), size.mapOutputs(), size.partitions(), rounds).measure(pairs);
    return output.write(pairs.comparisons());
  }
}
