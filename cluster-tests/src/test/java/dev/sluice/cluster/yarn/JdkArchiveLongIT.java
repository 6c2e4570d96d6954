// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.RdmaShuffleManager;
import dev.sluice.testkit.Poll;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.util.LongAccumulator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Containers run on a JDK that comes with the application, as docs/yarn.md shows. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class JdkArchiveLongIT {
  private static final Path JDK = Path.of(System.getProperty("java.home"));
  private static final String ARCHIVE = "jdk-archive.tar.gz";
  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  @TempDir private Path directory;

  @Test
  void containersRunOnTheJdkOfAnArchiveAndRead() throws Exception {
    Path archive = pack();
    try (YarnCluster cluster = YarnCluster.start(directory);
        JavaSparkContext context = new JavaSparkContext(spark(cluster, archive))) {
      LongAccumulator mapped = context.sc().longAccumulator();
      assertThat(SumJob.sums(context, mapped).collectAsMap()).isEqualTo(SumJob.expected());
      assertThat(executors(context)).allSatisfy(JdkArchiveLongIT::assertFromArchive);
      assertThat(YarnCluster.processes("org.apache.spark.deploy.yarn.ExecutorLauncher"))
          .singleElement()
          .satisfies(master -> assertFromArchive(master.info().command().orElseThrow()));
      Poll.await("blocks are READ", TIMEOUT, () -> totals().getOrDefault("read.blocks", 0L) > 0);
    }
  }

  private SparkConf spark(YarnCluster cluster, Path archive) throws Exception {
    String home = "./jdk25/" + JDK.getFileName();
    return NodeManagerIT.spark(directory, NodeManagerIT.sparkClassPath(), cluster.conf())
        // This is what --archives of spark-submit sets.
        .set("spark.yarn.dist.archives", archive.toUri() + "#jdk25")
        .set("spark.yarn.appMasterEnv.JAVA_HOME", home)
        .set("spark.executorEnv.JAVA_HOME", home);
  }

  /** Packs this JVM's JDK, as archives of JDKs have it: in a folder. */
  private Path pack() throws IOException, InterruptedException {
    Path archive = directory.resolve(ARCHIVE);
    Process tar =
        new ProcessBuilder(
                "tar",
                "--use-compress-program=gzip -1",
                "--exclude=*/jmods",
                "--exclude=*/lib/src.zip",
                "-cf",
                archive.toString(),
                "-C",
                JDK.getParent().toString(),
                JDK.getFileName().toString())
            .inheritIO()
            .start();
    assertThat(tar.waitFor()).isZero();
    assertThat(Files.size(archive)).isPositive();
    return archive;
  }

  /** Returns where the JVMs that run tasks have their files. */
  private static List<String> executors(JavaSparkContext context) {
    return context
        .parallelize(IntStream.range(0, SumJob.MAPS).boxed().toList(), SumJob.MAPS)
        .map(_ -> System.getProperty("java.home"))
        .collect();
  }

  /** YARN unpacks an archive into a folder with its name. */
  private static void assertFromArchive(String path) {
    assertThat(path).contains("/" + ARCHIVE + "/");
  }

  private static Map<String, Long> totals() {
    return ((RdmaShuffleManager) SparkEnv.get().shuffleManager()).totals();
  }
}
