// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.testkit.Executors;
import dev.sluice.testkit.Shuffle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.commons.lang3.function.FailableFunction;

/**
 * Storm of 400 x 400 blocks of 1 KB that a node daemon or a shuffle service serves. {@code
 * NodeCommand} runs it on its thread, on clusters that it has started and closes afterwards.
 */
public final class NodeStorm {
  private static final StormCase STORM = StormCase.of(Workload.RDD_KRYO, 400, 400, 1000);

  private final StormRunner runner;

  /**
   * @param quick true for one round, which begins before the compilers are done
   * @param clusters returns the settings of the cluster on which a shuffle's executors run
   */
  public NodeStorm(
      boolean quick, FailableFunction<Shuffle, Map<String, String>, IOException> clusters) {
    runner = quick ? new StormRunner(1, 8, 1, clusters) : new StormRunner(3, null, 3, clusters);
  }

  /**
   * Returns the task time of the reduce stage and the CPU time of the serving process.
   *
   * @param directory directory of the drivers
   * @param problems gets the reasons why the rows are worthless; there are no rows then
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
