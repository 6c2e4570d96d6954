// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.BlockLines;
import dev.sluice.spark.account.Totals;
import dev.sluice.spark.account.WorkDirectory;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.Test;

/**
 * Lines in the logs of the driver and of the executors. Workers copy the latter from the executors'
 * output.
 */
final class LogLinesIT {
  private static final int PARTITIONS = 4;
  private static final long BLOCKS = (long) KnownShuffle.SMALL.maps() * PARTITIONS;
  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  /** Logging as without a configuration of the user. */
  private static final String LOGS_TO_STANDARD_ERROR =
      "-Dlog4j.configurationFile=classpath:org/apache/spark/log4j2-defaults.properties";

  @Test
  void executorsLogTheirBlocksByPathBeforeTheyAreEnded() throws Exception {
    String application;
    Totals totals;
    try (LocalCluster cluster =
        LocalCluster.start("spark.executor.extraJavaOptions", LOGS_TO_STANDARD_ERROR)) {
      application = cluster.context().sc().applicationId();
      shuffle(cluster);
      awaitExecutors(application);
      totals = cluster.totals();
    }
    assertThat(totals.blocks()).isEqualTo(BLOCKS);
    assertThat(BlockLines.ofExecutors(logs(application))).hasToString(totals.toString());
    assertThat(BlockLines.ofApplication(driverLog(application))).hasToString(totals.toString());
  }

  @Test
  void theDriverWaitsForTheReportsOfItsLastTasks() throws Exception {
    String application;
    try (LocalCluster cluster = LocalCluster.start()) {
      application = cluster.context().sc().applicationId();
      shuffle(cluster);
    }
    assertThat(BlockLines.ofApplication(driverLog(application)).blocks()).isEqualTo(BLOCKS);
  }

  private static void shuffle(LocalCluster cluster) {
    JavaPairRDD<Integer, byte[]> shuffled =
        KnownShuffle.SMALL.repartitioned(cluster.context(), PARTITIONS);
    assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(KnownShuffle.SMALL.answer());
  }

  private static void awaitExecutors(String application) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (BlockLines.ofExecutors(logs(application)).blocks() < BLOCKS) {
      assertThat(System.nanoTime() - deadline).as("waited " + TIMEOUT).isNegative();
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  /**
   * Reads the logs of all Workers of a local cluster. Each Worker has a directory, which is deleted
   * when this process ends.
   */
  private static String logs(String application) throws IOException {
    StringBuilder logs = new StringBuilder();
    Path parent = Path.of(System.getProperty("java.io.tmpdir"));
    try (DirectoryStream<Path> workers = Files.newDirectoryStream(parent, "worker-*")) {
      for (Path worker : workers) {
        logs.append(new WorkDirectory(worker).logs(application));
      }
    }
    return logs.toString();
  }

  /** This process's lines of the log that all tests share, since an application connected. */
  static String driverLog(String application) throws IOException {
    String own = " " + ProcessHandle.current().pid() + " ";
    Path log = Path.of(System.getProperty("sluice.target"), "logs", "spark-tests.log");
    try (Stream<String> lines = Files.lines(log)) {
      return lines
          .filter(line -> line.contains(own))
          .dropWhile(
              line -> !line.contains("Connected to Spark cluster with app ID " + application))
          .collect(Collectors.joining("\n", "", "\n"));
    }
  }
}
