// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.chaos.RunResult.Run;
import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.chaos.cluster.LeakCheck;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.StandardOutput;
import java.io.PrintStream;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.SparkSession;

/**
 * Main class of the driver process. It answers each line, a {@link Run}, by running the workload
 * under the fault, with a {@link RunResult}; its main thread does so. {@link ChaosDriver} starts
 * and ends it. Between two runs it waits until all executors are there again.
 */
final class ChaosJob {
  private final Cluster cluster;
  private final LeakCheck leaks;
  private final long limitMs;

  private ChaosJob(SparkSession session, long limitMs) {
    this.cluster = new Cluster(session);
    this.leaks = new LeakCheck(cluster);
    this.limitMs = limitMs;
  }

  /**
   * @param arguments seconds after which a job counts as hanging
   */
  public static void main(String[] arguments) throws Exception {
    PrintStream out = StandardOutput.claim();
    ObjectMapper json = new ObjectMapper();
    long limitMs = TimeUnit.SECONDS.toMillis(Integer.parseInt(arguments[0]));
    try (SparkSession session = SparkSession.builder().getOrCreate()) {
      ChaosJob job = new ChaosJob(session, limitMs);
      job.cluster.awaitWhole();
      AnsweringProcess.answer(out, line -> job.run(json.readValue(line, Run.class)));
    }
  }

  private RunResult run(Run run) throws Exception {
    cluster.awaitWhole();
    cluster.watch();
    return new FaultedJob(run, cluster, limitMs).run(leaks);
  }
}
