// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.hadoop.HadoopCluster;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.examples.WordCount;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.partition.KeyFieldBasedPartitioner;
import org.apache.hadoop.util.VersionInfo;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Jobs of MapReduce on two NodeManagers. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class MapReduceIT {
  private static final Path ROOT = Path.of(System.getProperty("sluice.root"));
  private static final int NODES = 2;
  private static final int NODE_MB = 2048;

  /** Part of Hadoop's log line for a map output that a reduce task has copied. */
  private static final String COPIED = "bytes from map-output for ";

  @TempDir private static Path directory;
  private static HadoopCluster cluster;

  @BeforeAll
  static void startCluster() throws Exception {
    cluster = HadoopCluster.start(directory.resolve("cluster"), ROOT, NODES, NODE_MB, "soft");
  }

  @AfterAll
  static void endCluster() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void wordsAreCountedWithCombinerAndCompression(Shuffle shuffle) throws Exception {
    WordCounting words = words("combined-" + shuffle, shuffle);
    words.job().setCombinerClass(WordCount.IntSumReducer.class);
    words.set("mapreduce.map.output.compress", "true");
    words.check();
    if (shuffle == Shuffle.SLUICE) {
      words.checkThatAllWasRead();
    }
  }

  @Test
  void emptyPartitionsAreRead() throws Exception {
    WordCounting words = words("empty", Shuffle.SLUICE);
    // Words have no second field, so all of them go to the first partition.
    words.job().setPartitionerClass(KeyFieldBasedPartitioner.class);
    words.set("mapreduce.partition.keypartitioner.options", "-k2,2");
    words.check();
    words.checkThatAllWasRead();
    assertThat(directory.resolve("empty/output/part-r-00001")).isEmptyFile();
  }

  @Test
  void reduceTasksOnJava17FetchByHttp() throws Exception {
    assumeTrue(
        HadoopCluster.java().toString().contains("17"),
        "Hadoop's processes run on the JDK of the tests, as /usr/lib/jvm has no JDK 17");
    WordCounting words = words("java-17", Shuffle.SLUICE);
    words.job().getConfiguration().unset("mapreduce.reduce.env.JAVA_HOME");
    words.check();
    int outputs = WordCounting.MAPS * WordCounting.REDUCES;
    assertThat(words.counter("HTTP_JAVA")).isEqualTo(outputs);
    assertThat(words.counter("HTTP_MAP_OUTPUTS")).isEqualTo(outputs);
    assertThat(words.counter("READ_MAP_OUTPUTS")).isZero();
  }

  /** The threads of Hadoop 3.4 that fetch and merge inherit no credentials on newer JDKs. */
  @Test
  void encryptedPairsArriveSorted() throws Exception {
    assumeTrue(
        !VersionInfo.getVersion().startsWith("3.4.") || Runtime.version().feature() < 23,
        "Hadoop 3.4 decrypts map outputs on JDK 21 and 22 only: bin/test --hadoop 3.4 --java 21");
    new PairSorting(cluster, directory.resolve("pairs"), cluster.job(Shuffle.SLUICE)).check();
  }

  @Test
  void mapOutputsAreReadToDisk() throws Exception {
    WordCounting words = words("disk", Shuffle.SLUICE);
    words.set("mapreduce.reduce.shuffle.memory.limit.percent", "0.0001");
    // Otherwise reduce tasks write map outputs to disk that came to memory.
    words.set("mapreduce.reduce.input.buffer.percent", "1.0");
    words.check();
    words.checkThatAllWasRead();
    assertThat(words.counter(TaskCounter.SPILLED_RECORDS))
        .as("records that map tasks wrote, and that reduce tasks read from disk")
        .isEqualTo(2 * words.counter(TaskCounter.MAP_OUTPUT_RECORDS));
  }

  /** Each reduce task logs the attempts whose output it copies. */
  @Test
  void aMapAttemptThatIsKilledAfterOneReduceTaskReadItIsReadFromTheNextAttempt() throws Exception {
    WordCounting words = words("killed-attempt", Shuffle.SLUICE);
    Gate gate = words.gate();
    LateReduce late = words.lateReduce();
    words.job().submit();
    words.await("one reduce task has READ", () -> words.shuffledMaps() == WordCounting.MAPS - 1);
    TaskAttemptID killed = words.finishedMaps().getFirst();
    words.job().killTask(killed);
    words.await("another attempt", () -> words.haveRunAgain(List.of(killed)));
    late.open();
    gate.open();
    words.check();
    words.checkThatAllWasRead();
    TaskAttemptID next = new TaskAttemptID(killed.getTaskID(), killed.getId() + 1);
    assertThat(cluster.logLines(COPIED + killed)).as("copies of the killed attempt").hasSize(1);
    assertThat(cluster.logLines(COPIED + next)).as("copies of the next attempt").hasSize(1);
  }

  @Test
  void aJobSurvivesTheEndOfItsDaemons() throws Exception {
    WordCounting words =
        new WordCounting(
            cluster,
            directory.resolve("killed-daemons"),
            cluster.job(Shuffle.SLUICE),
            WordCounting.WORDS_OF_SEVERAL_READS);
    Gate gate = words.gate();
    SlowReduce slow = words.slowReduce();
    words.job().submit();
    words.await(
        "one reduce task copies, and the other one has READ",
        () -> slow.waiting() == 1 && words.shuffledMaps() == WordCounting.MAPS - 1);
    for (int node = 1; node <= NODES; node++) {
      cluster.killDaemon(node);
    }
    slow.open();
    gate.open();
    words.check();
    long read = words.counter("READ_MAP_OUTPUTS");
    assertThat(read).isGreaterThanOrEqualTo(WordCounting.MAPS - 1);
    assertThat(read + words.counter("HTTP_MAP_OUTPUTS"))
        .isEqualTo(WordCounting.MAPS * WordCounting.REDUCES);
    assertThat(words.failedReads())
        .as("map outputs that were being copied, and whose further READs failed")
        .isPositive();
  }

  private static WordCounting words(String name, Shuffle shuffle) throws Exception {
    return new WordCounting(cluster, directory.resolve(name), cluster.job(shuffle));
  }
}
