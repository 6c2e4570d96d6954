// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.hadoop.HadoopCluster;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.io.compress.BZip2Codec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.mapreduce.TaskType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs of MapReduce on two NodeManagers that take a minute and more. */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
final class MapReduceLongIT {
  @TempDir private Path directory;
  private HadoopCluster cluster;

  @BeforeEach
  void startCluster() throws Exception {
    Path root = Path.of(System.getProperty("sluice.root"));
    cluster = HadoopCluster.start(directory.resolve("cluster"), root, 2, 2048, "soft");
  }

  @AfterEach
  void endCluster() {
    if (cluster != null) {
      cluster.close();
    }
  }

  /** Hadoop has both codecs without native code. */
  @ParameterizedTest
  @ValueSource(classes = {GzipCodec.class, BZip2Codec.class})
  void mapOutputsOfOtherCodecsAreRead(Class<?> codec) throws Exception {
    WordCounting words =
        new WordCounting(cluster, directory.resolve("words"), cluster.job(Shuffle.SLUICE));
    words.set("mapreduce.map.output.compress", "true");
    words.set("mapreduce.map.output.compress.codec", codec.getName());
    words.check();
    words.checkThatAllWasRead();
  }

  @Test
  void outputsOfTwoJobsAreJoinedOnTheMapSide() throws Exception {
    new MapSideJoin(cluster, directory.resolve("join"), cluster.job(Shuffle.SLUICE)).check();
  }

  @Test
  void twoAttemptsOfAReduceTaskReadAtTheSameTime() throws Exception {
    WordCounting words =
        new WordCounting(cluster, directory.resolve("words"), cluster.job(Shuffle.SLUICE));
    words.set("mapreduce.reduce.speculative", "true");
    words.set("mapreduce.job.speculative.retry-after-no-speculate", "200");
    SlowReduce slow = words.slowReduce();
    words.job().submit();
    // Hadoop starts the second attempt after the other reduce task has ended.
    words.await("two attempts READ", () -> slow.waiting() == 2);
    assertThat(words.job().getTaskReports(TaskType.REDUCE))
        .filteredOn(report -> report.getTaskID().getId() == 0)
        .singleElement()
        .satisfies(report -> assertThat(report.getRunningTaskAttemptIds()).hasSize(2));
    slow.open();
    words.check();
    words.checkThatAllWasRead();
  }
}
