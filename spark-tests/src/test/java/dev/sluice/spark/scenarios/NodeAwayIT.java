// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.Success$;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The node daemon is away: for less than its limit, which only costs time, or for longer or all the
 * time, which fails no job either.
 */
final class NodeAwayIT {
  private static final KnownShuffle DATA = new KnownShuffle(16, 20_000, 400, 200);
  private static final int PARTITIONS = 8;
  private static final Duration TIMEOUT = Duration.ofMinutes(4);

  /** Longer than tasks wait for a server that hangs, with these settings. */
  private static final Duration SHORT = Duration.ofSeconds(12);

  @TempDir private Path directory;

  @Test
  void mapTasksWaitForAServerThatIsAway() throws Exception {
    assertMapTasksWait(directory, SHORT, "spark.shuffle.rdma.node.awayTimeout", "60s");
  }

  @Test
  void readersWaitForAServerThatIsAway() throws Exception {
    assertReadersWait(
        directory,
        SHORT,
        "spark.shuffle.rdma.locate.timeout",
        "2s",
        "spark.shuffle.rdma.node.awayTimeout",
        "60s");
  }

  /** Nothing listens at all: each executor waits once. */
  @Test
  void withoutAServerMapOutputsStayAndAreWrittenAgainWhenTheirExecutorsEnd() throws Exception {
    try (LocalCluster cluster =
        NodeIT.start(directory, "spark.shuffle.rdma.node.awayTimeout", "1s")) {
      JavaPairRDD<Integer, byte[]> shuffled = DATA.repartitioned(cluster.context(), PARTITIONS);
      Failures failures = new Failures(cluster);
      assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(DATA.answer());
      failures.assertNone(cluster);
      PathAssert.allRead(cluster);
      assertThat(cluster.totals().of("node.refused")).isEqualTo(DATA.maps());

      NodeIT.kill(cluster, cluster.executors());
      cluster.metrics(); // The driver's other listeners have heard of it, too.
      assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(DATA.answer());
      failures.assertNone(cluster);
      PathAssert.allRead(cluster);
    }
  }

  @Test
  void executorsGoOnWhenTheirServerDoesNotComeBack() throws Exception {
    try (NodeProcess node = NodeProcess.in(directory).start();
        LocalCluster cluster =
            NodeIT.start(directory, "spark.shuffle.rdma.node.awayTimeout", "1s")) {
      assertRight(cluster);
      assertThat(cluster.totals().of("node.taken")).isEqualTo(DATA.maps());
      node.kill();
      Failures failures = new Failures(cluster);
      assertRight(cluster);
      failures.assertNone(cluster);
      PathAssert.allRead(cluster);
      assertThat(cluster.totals().of("node.refused")).isEqualTo(DATA.maps());
      assertThat(cluster.totals().of("node.taken")).isEqualTo(DATA.maps());
    }
  }

  private static void assertRight(LocalCluster cluster) {
    assertThat(KnownShuffle.answerOf(DATA.repartitioned(cluster.context(), PARTITIONS)))
        .isEqualTo(DATA.answer());
  }

  /** Kills the server for the given time while map tasks write. */
  static void assertMapTasksWait(Path directory, Duration away, String... settings)
      throws Exception {
    Gate gate = Gate.create(directory);
    try (NodeProcess node = NodeProcess.in(directory).start();
        LocalCluster cluster = NodeIT.start(directory, settings)) {
      JavaPairRDD<Integer, byte[]> shuffled =
          DATA.input(cluster.context())
              .mapPartitionsToPair(gate::pass, true)
              .partitionBy(new HashPartitioner(PARTITIONS));
      Failures failures = new Failures(cluster);
      CompletableFuture<Map<Integer, Long>> answer =
          CompletableFuture.supplyAsync(() -> KnownShuffle.answerOf(shuffled));
      gate.awaitArrivals(2);
      node.kill();
      gate.open();
      TimeUnit.MILLISECONDS.sleep(away.toMillis());
      node.restart();

      assertThat(answer.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo(DATA.answer());
      failures.assertNone(cluster);
      assertThat(cluster.totals().of("node.refused")).isZero();
      assertThat(cluster.totals().of("node.taken")).isEqualTo(DATA.maps());
    }
  }

  /**
   * Kills the server, which alone has all map outputs, for the given time while reduce tasks read.
   */
  static void assertReadersWait(Path directory, Duration away, String... settings)
      throws Exception {
    Gate gate = Gate.create(directory);
    String[] all =
        Stream.concat(Stream.of("spark.reducer.maxSizeInFlight", "1m"), Stream.of(settings))
            .toArray(String[]::new);
    try (NodeProcess node = NodeProcess.in(directory).start();
        LocalCluster cluster = NodeIT.start(directory, all)) {
      JavaPairRDD<Integer, byte[]> shuffled = DATA.repartitioned(cluster.context(), PARTITIONS);
      shuffled.count();
      NodeIT.kill(cluster, NodeIT.executors(cluster, node));
      Failures failures = new Failures(cluster);
      JavaPairRDD<Integer, byte[]> gated = shuffled.mapPartitionsToPair(gate::pass, true);
      CompletableFuture<Map<Integer, Long>> answer =
          CompletableFuture.supplyAsync(() -> KnownShuffle.answerOf(gated));
      gate.awaitArrivals(2);
      node.kill();
      gate.open();
      TimeUnit.MILLISECONDS.sleep(away.toMillis());
      node.restart();

      assertThat(answer.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo(DATA.answer());
      failures.assertNone(cluster);
      assertThat(failures.mapTasks).as("map tasks that ran again").hasValue(0);
    }
  }

  /** Counts failed tasks and retried stages from now on. Called on Spark's listener thread. */
  private static final class Failures extends SparkListener {
    private final AtomicInteger tasks = new AtomicInteger();
    private final AtomicInteger stages = new AtomicInteger();
    private final AtomicInteger mapTasks = new AtomicInteger();

    Failures(LocalCluster cluster) {
      cluster.metrics(); // earlier events have arrived
      cluster.context().sc().addSparkListener(this);
    }

    @Override
    public void onTaskEnd(SparkListenerTaskEnd end) {
      if (end.reason() != Success$.MODULE$) {
        tasks.incrementAndGet();
      }
    }

    @Override
    public void onStageSubmitted(SparkListenerStageSubmitted submitted) {
      if (submitted.stageInfo().shuffleDepId().isDefined()) {
        mapTasks.addAndGet(submitted.stageInfo().numTasks());
      } else {
        stages.addAndGet(submitted.stageInfo().attemptNumber());
      }
    }

    void assertNone(LocalCluster cluster) {
      cluster.metrics();
      assertThat(tasks).as("tasks that failed").hasValue(0);
      assertThat(stages).as("reducing stages that were tried again").hasValue(0);
    }
  }
}
