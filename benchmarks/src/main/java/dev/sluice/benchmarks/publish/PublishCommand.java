package dev.sluice.benchmarks.publish;

import dev.sluice.benchmarks.ClusterConf;
import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Comparison.Better;
import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.Directories;
import dev.sluice.benchmarks.DriverProcess;
import dev.sluice.benchmarks.JsonFile;
import dev.sluice.benchmarks.RunDirectory;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.Statistics;
import dev.sluice.benchmarks.Turns;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What registering and publishing add to map tasks: the time of a map stage of many small tasks
 * through Sluice beside the stock shuffle, in two executor processes, in turn.
 */
@Command(name = "publish", description = "Map stages of many small tasks, beside the stock shuffle")
public final class PublishCommand implements Callable<Integer> {
  private static final int PARTITIONS = 16;

  /** In one driver process; the first ones, 10,000 tasks, warm up and do not count. */
  private static final int REPETITIONS = 40;

  private static final int WARM_UP = 25;

  /** One file a map task, as with more partitions, and not one for each on the way to it. */
  private static final Map<String, String> CONF =
      Map.of("spark.shuffle.sort.bypassMergeThreshold", "1");

  /** A map stage takes 1.02 of the stock shuffle's time at most. */
  private static final double GOAL = 1.02;

  @Option(
      names = "--maps",
      defaultValue = "400",
      description = "Map tasks of a stage (default: ${DEFAULT-VALUE})")
  private int maps;

  @Option(
      names = "--rounds",
      defaultValue = "3",
      description = "Driver processes of each shuffle (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Mixin private ComparisonOutput output;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path directory = RunDirectory.of("publish");
    double[][] seconds =
        Turns.measure(
            Shuffle.PAIR,
            0,
            rounds,
            (shuffle, round) ->
                mapStage(directory.resolve(shuffle.label() + "-" + round), shuffle));
    Directories.delete(directory);
    String name = "publish-map-stage-" + maps;
    return output.write(
        List.of(new Comparison(name, "s", Better.LESS, seconds[0], "stock", seconds[1], GOAL)));
  }

  /** Median of the stages of one driver process, in seconds. */
  private double mapStage(Path directory, Shuffle shuffle)
      throws IOException, InterruptedException {
    System.err.println(directory.getFileName());
    Path result = directory.resolve("result.json");
    new DriverProcess(directory)
        .run(
            PublishJob.class,
            shuffle,
            new ClusterConf(2, 1, 2000, 0, "auto", CONF),
            Integer.toString(maps),
            Integer.toString(PARTITIONS),
            Integer.toString(REPETITIONS),
            result.toString());
    double[] seconds = JsonFile.read(result, double[].class);
    return Statistics.median(Arrays.copyOfRange(seconds, WARM_UP, seconds.length));
  }
}
