// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.util.LongAccumulator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A NodeManager runs the daemon, and Spark's executors find it. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class NodeManagerIT {
  @TempDir private Path directory;

  @Test
  void theDaemonIsStartedAgainAndEndsWithTheNodeManager() throws Exception {
    ProcessHandle second;
    try (YarnCluster cluster = YarnCluster.start(directory)) {
      ProcessHandle first = cluster.awaitDaemon(0);
      first.destroyForcibly();
      second = cluster.awaitDaemon(first.pid());
    }
    YarnCluster.await("the daemon is there", () -> !second.isAlive());
  }

  @Test
  void mapOutputsAreDeletedWithTheApplication() throws Exception {
    try (YarnCluster cluster = YarnCluster.start(directory)) {
      Path folder;
      try (JavaSparkContext context = new JavaSparkContext(spark(cluster.conf()))) {
        LongAccumulator mapped = context.sc().longAccumulator();
        assertThat(SumJob.sums(context, mapped).collectAsMap()).isEqualTo(SumJob.expected());
        String run = context.getConf().getAppId() + "-another";
        folder = Files.createDirectory(cluster.folder(run));
        assertThat(runs(folder.getParent(), context.getConf().getAppId())).hasSize(2);
      }
      YarnCluster.await("the end is not told", () -> Files.exists(folder.resolve(".ended")));
      YarnCluster.await(
          "files are left", () -> runs(folder.getParent(), "application").equals(List.of(folder)));
    }
  }

  @Test
  void mapOutputsOfKilledExecutorsAreReadAtTheNode() throws Exception {
    try (YarnCluster cluster = YarnCluster.start(directory);
        JavaSparkContext context = new JavaSparkContext(spark(cluster.conf()))) {
      LongAccumulator mapped = context.sc().longAccumulator();
      JavaPairRDD<Integer, Integer> sums = SumJob.sums(context, mapped);
      assertThat(sums.collectAsMap()).isEqualTo(SumJob.expected());
      List<Long> executors =
          context
              .parallelize(IntStream.range(0, 64).boxed().toList(), 64)
              .map(_ -> ProcessHandle.current().pid())
              .distinct()
              .collect();
      assertThat(executors).isNotEmpty().doesNotContain(ProcessHandle.current().pid());
      executors.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));

      assertThat(sums.collectAsMap()).isEqualTo(SumJob.expected());
      assertThat(mapped.value()).as("no map task runs again").isEqualTo(SumJob.NUMBERS);
    }
  }

  private static List<Path> runs(Path folder, String prefix) throws Exception {
    try (Stream<Path> runs = Files.list(folder)) {
      return runs.filter(run -> run.getFileName().toString().startsWith(prefix)).toList();
    }
  }

  private SparkConf spark(Configuration yarn) throws Exception {
    return spark(directory, sparkClassPath(), yarn);
  }

  /** Returns the class path of Spark's containers. */
  static String sparkClassPath() throws IOException {
    return Files.readString(Path.of("spark-class-path.txt")).strip();
  }

  /**
   * Returns the settings of an application with two executors.
   *
   * @param directory folder for links to Spark's jars, and for the application's own files
   * @param classPath that of {@link #sparkClassPath}
   */
  static SparkConf spark(Path directory, String classPath, Configuration yarn) throws Exception {
    Path jars = Files.createDirectory(directory.resolve("jars"));
    for (String entry : classPath.split(File.pathSeparator)) {
      Path jar = Path.of(entry);
      Path link = jars.resolve(jar.getFileName());
      if (Files.notExists(link, LinkOption.NOFOLLOW_LINKS)) {
        Files.createSymbolicLink(link, jar);
      }
    }
    SparkConf conf =
        new SparkConf(false)
            .setMaster("yarn")
            .setAppName("node")
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.ui.enabled", "false")
            .set("spark.shuffle.manager", "dev.sluice.spark.RdmaShuffleManager")
            .set("spark.shuffle.rdma.provider", "soft")
            .set("spark.shuffle.rdma.node", "on")
            // A busy machine may stall a process for longer than the default.
            .set("spark.shuffle.rdma.node.timeout", "60s")
            // The test asserts that all blocks are READ, also while the machine stalls.
            .set("spark.shuffle.rdma.read.hedge", "false")
            .set("spark.executor.instances", "2")
            .set("spark.executor.memory", "512m")
            .set("spark.yarn.am.memory", "512m")
            .set("spark.scheduler.minRegisteredResourcesRatio", "1.0")
            .set("spark.scheduler.maxRegisteredResourcesWaitingTime", "2min")
            .set("spark.yarn.jars", "local:" + jars + "/*")
            .set("spark.yarn.stagingDir", directory.resolve("staging").toUri().toString())
            .set("spark.executor.extraClassPath", sluice() + File.pathSeparator + ownClasses());
    for (Map.Entry<String, String> entry : yarn) {
      if (entry.getKey().startsWith("yarn.resourcemanager.")) {
        conf.set("spark.hadoop." + entry.getKey(), entry.getValue());
      }
    }
    return conf;
  }

  private static Path sluice() {
    return Path.of(System.getProperty("sluice.root"))
        .resolve("shuffle-manager/target")
        .resolve("sluice-spark-4-" + System.getProperty("sluice.version") + ".jar");
  }

  private static Path ownClasses() throws Exception {
    return Path.of(NodeManagerIT.class.getProtectionDomain().getCodeSource().getLocation().toURI());
  }
}
