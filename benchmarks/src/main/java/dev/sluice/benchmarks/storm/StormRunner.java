// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.storm.StormCase.Workload;
import dev.sluice.benchmarks.storm.StormJob.StormResult;
import dev.sluice.testkit.Directories;
import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.DriverProcess.ClusterConf;
import dev.sluice.testkit.Executors;
import dev.sluice.testkit.Progress;
import dev.sluice.testkit.Shuffle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.commons.lang3.function.FailableFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Runs storms as its options say: each shuffle in turn, in a new driver process. {@link
 * StormCommand} (by picocli) and {@code NodeCommand} run it on their thread.
 */
public final class StormRunner {
  private static final int EXECUTORS = 2;
  private static final int MEMORY_MB = 2000;

  /** Number of reduce tasks after which the compilers of driver and executors are nearly done. */
  private static final int WARM_UP_TASKS = 8000;

  // Limits of the repetitions that do not count, for storms of very many and very few tasks.
  private static final int MIN_WARM_UP = 3;
  private static final int MAX_WARM_UP = 100;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Driver processes of each shuffle (default: ${DEFAULT-VALUE})")
  private int rounds = 3;

  @Option(
      names = "--warm-up",
      paramLabel = "NUMBER",
      description =
          "Warm-up runs of the reduce stage in each process (default: enough for "
              + WARM_UP_TASKS
              + " tasks, but "
              + MIN_WARM_UP
              + " to "
              + MAX_WARM_UP
              + ")")
  private @Nullable Integer warmUp;

  @Option(
      names = "--repetitions",
      paramLabel = "N",
      description = "Measured runs of the reduce stage in each process (default: ${DEFAULT-VALUE})")
  private int repetitions = 3;

  @Option(
      names = "--conf",
      paramLabel = "KEY=VALUE",
      description = "Spark setting for both shuffles")
  private Map<String, String> conf = new LinkedHashMap<>();

  @Option(
      names = "--label",
      paramLabel = "WORD",
      description = "Word to add to the names of rows, such as for --conf")
  private @Nullable String label;

  /** Settings of a driver whose executors run on a separate cluster; none by default. */
  private FailableFunction<Shuffle, Map<String, String>, IOException> clusters = _ -> Map.of();

  /** Returns the number of driver processes for a case. */
  int processes() {
    return rounds * Shuffle.PAIR.size();
  }

  /**
   * Runs storms of 400 x 400 blocks of 1 KB that a node daemon or a shuffle service serves.
   *
   * @param quick true for one round, which begins before the compilers are done
   * @param clusters returns the settings of the cluster on which a shuffle's executors run
   * @param directory directory of the drivers
   * @param problems gets the reasons why the rows are worthless; there are no rows then
   * @param progress gets the steps of the storms
   * @return rows of the task time of the reduce stage and the CPU time of the serving process, and
   *     with new shuffles of the map stage and the whole job
   */
  public static List<Comparison> onNodes(
      boolean quick,
      FailableFunction<Shuffle, Map<String, String>, IOException> clusters,
      Path directory,
      List<String> problems,
      Progress progress)
      throws IOException, InterruptedException {
    StormRunner runner = new StormRunner();
    runner.clusters = clusters;
    if (quick) {
      runner.rounds = 1;
      runner.warmUp = 8;
      runner.repetitions = 1;
    }
    progress.expect(2 * runner.processes());
    StormRounds reads =
        runner.run(directory, StormCase.of(Workload.RDD_KRYO, 400, 400, 1000), progress);
    StormRounds jobs =
        runner.run(
            directory, new StormCase(Workload.RDD_KRYO, 400, 400, 1000, false, true), progress);
    problems.addAll(reads.problems());
    problems.addAll(jobs.problems());
    List<Comparison> rows = new ArrayList<>();
    if (reads.problems().isEmpty()) {
      rows.add(reads.compare("node-storm-task", each -> each.stage().taskSeconds()));
      rows.add(
          reads.compare(
              "node-storm-serving-cpu", each -> each.reduce().cpuSeconds().get(Executors.SERVER)));
    }
    if (jobs.problems().isEmpty()) {
      rows.addAll(jobs.mapAndWhole("node-storm"));
    }
    return rows;
  }

  /**
   * Runs a case. If a driver fails, it ends early and the results contain the failure.
   *
   * @param parent parent of the case's directory, which is kept after a problem
   */
  StormRounds run(Path parent, StormCase storm, Progress progress)
      throws IOException, InterruptedException {
    String name = label == null ? storm.name() : storm.name() + "-" + label;
    Path directory = parent.resolve(name);
    StormRounds results = new StormRounds(storm, name, warmUp(storm));
    try {
      for (int i = 0; i < rounds; i++) {
        runRound(directory, i, results, progress);
      }
    } catch (IOException e) {
      results.failed(e);
    }
    if (results.problems().isEmpty()) {
      Directories.delete(directory);
    }
    return results;
  }

  private void runRound(Path directory, int round, StormRounds results, Progress progress)
      throws IOException, InterruptedException {
    for (Shuffle shuffle : Shuffle.inTurn(round)) {
      progress.begin(
          "%s: round %d of %d, %s".formatted(results.name(), round + 1, rounds, shuffle.label()));
      Path process = directory.resolve(shuffle.label() + "-" + (round + 1));
      results.add(shuffle, run(process, results.storm(), shuffle));
    }
  }

  private StormResult run(Path directory, StormCase storm, Shuffle shuffle)
      throws IOException, InterruptedException {
    Map<String, String> all = new HashMap<>(storm.conf());
    all.putAll(conf);
    all.putAll(clusters.apply(shuffle));
    return new DriverProcess(directory)
        .result(
            StormResult.class,
            StormJob.class,
            shuffle,
            new ClusterConf(EXECUTORS, 1, MEMORY_MB, "auto", all),
            new ObjectMapper().writeValueAsString(storm),
            Integer.toString(warmUp(storm) + repetitions));
  }

  private int warmUp(StormCase storm) {
    return warmUp != null
        ? warmUp
        : Math.clamp(WARM_UP_TASKS / storm.reduceTasks(), MIN_WARM_UP, MAX_WARM_UP);
  }
}
