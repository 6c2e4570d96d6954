// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.start;

import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.storm.RddStorm;
import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.Executors;
import dev.sluice.testkit.Executors.Effort;
import dev.sluice.testkit.Stages;
import dev.sluice.testkit.Sums;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * The driver process of a start: runs one small shuffle on executors that have run nothing yet, on
 * its main thread. Configured by system properties; {@link StartCommand} starts it and waits for
 * its end.
 */
public final class StartJob {
  /** Map tasks and reduce tasks: each executor runs two of each. */
  private static final int TASKS = 4;

  private static final int BLOCK_BYTES = 1000;

  private StartJob() {}

  /**
   * Result of a driver, which the command reads from a file of JSON.
   *
   * @param firstBlockSeconds time from the start of an executor's process until its first reduce
   *     task has read its blocks; mean over the executors
   * @param reduceStageSeconds wall time of the reduce stage
   * @param cpuSeconds CPU time of all executors from their start to the end of the stage
   */
  record Result(
      double firstBlockSeconds,
      double reduceStageSeconds,
      double cpuSeconds,
      Sums sums,
      SluiceTotals totals) {}

  /**
   * @param arguments the result file
   */
  public static void main(String[] arguments) throws Exception {
    DriverProcess.measure(arguments[0], StartJob::run);
  }

  private static Result run(JavaSparkContext spark, Stages stages) throws Exception {
    List<Tuple2<String, long[]>> reads =
        RddStorm.pairs(spark, TASKS, TASKS, BLOCK_BYTES)
            .partitionBy(new HashPartitioner(TASKS))
            .mapPartitions(StartJob::read)
            .collect();
    double cpu = new Effort(0, Executors.cpuSeconds()).allCpuSeconds();
    double stage = Stages.wallSeconds(stages.await());
    return new Result(
        firstBlockSeconds(reads),
        stage,
        cpu,
        Sums.of(reads.stream().map(Tuple2::_2).toList()),
        SluiceTotals.await(spark.getConf(), stages));
  }

  /** Returns the executor, the {@link Sums} of the task, and the age of its process in ns. */
  private static Iterator<Tuple2<String, long[]>> read(Iterator<Tuple2<Integer, byte[]>> records) {
    long[] sums = RddStorm.sums(records).next();
    Instant start = ProcessHandle.current().info().startInstant().orElseThrow();
    long[] read = Arrays.copyOf(sums, sums.length + 1);
    read[sums.length] = Duration.between(start, Instant.now()).toNanos();
    return List.of(new Tuple2<>(SparkEnv.get().executorId(), read)).iterator();
  }

  private static double firstBlockSeconds(List<Tuple2<String, long[]>> reads) {
    Map<String, Long> first = new TreeMap<>();
    reads.forEach(read -> first.merge(read._1(), read._2()[read._2().length - 1], Math::min));
    return first.values().stream().mapToLong(Long::longValue).average().orElseThrow() / 1e9;
  }
}
