package dev.sluice.benchmarks.storm;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Executors;
import dev.sluice.benchmarks.Shuffle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.commons.lang3.function.FailableFunction;

/** The storm of 400 x 400 blocks of 1 KB through what keeps a node's map outputs. */
public final class NodeStorm {
  private static final StormCase STORM = StormCase.of(Workload.RDD_KRYO, 400, 400, 1000);

  private final StormRunner runner;

  /**
   * @param quick one round, before which the compilers are not done
   * @param clusters Spark configuration of those that run the drivers' executors
   */
  public NodeStorm(
      boolean quick, FailableFunction<Shuffle, Map<String, String>, IOException> clusters) {
    runner = quick ? new StormRunner(1, 8, 1, clusters) : new StormRunner(3, null, 3, clusters);
  }

  /**
   * Task time of the reduce stage, and the CPU time of the process that serves it.
   *
   * @param directory of the drivers
   * @param problems gets what makes the rows worth nothing, which there are none of then
   */
  public List<Comparison> rows(Path directory, List<String> problems)
      throws IOException, InterruptedException {
    StormRounds rounds = runner.run(directory, STORM);
    problems.addAll(rounds.problems());
    return rounds.problems().isEmpty()
        ? List.of(
            rounds.compare("node-storm-task", each -> each.stage().taskSeconds()),
            rounds.compare(
                "node-storm-serving-cpu", each -> each.executorCpuSeconds().get(Executors.SERVER)))
        : List.of();
  }
}
