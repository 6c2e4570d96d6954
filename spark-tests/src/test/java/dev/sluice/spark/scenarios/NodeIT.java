// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Map outputs outlive their executors if the node daemon has them. */
final class NodeIT {
  static final KnownShuffle DATA = new KnownShuffle(16, 5_000, 400, 100);

  static final int PARTITIONS = 8;

  /** Some 200 batches for each executor: nothing is late before the first hundred. */
  private static final int MANY = 400;

  private static final String HEDGE = "spark.shuffle.rdma.read.hedge";
  static final Duration TIMEOUT = Duration.ofMinutes(2);

  @TempDir private Path directory;

  private LocalCluster start(String... more) {
    return start(directory, more);
  }

  /** Starts executors that hand map outputs over to the node daemon of the folder. */
  static LocalCluster start(Path directory, String... more) {
    List<String> settings =
        List.of(
            "spark.shuffle.rdma.node",
            "on",
            "spark.shuffle.rdma.node.socket",
            NodeProcess.socket(directory).toString(),
            "spark.local.dir",
            directory.resolve("local").toString());
    return LocalCluster.start(
        Stream.concat(settings.stream(), Stream.of(more)).toArray(String[]::new));
  }

  @Test
  void nothingIsWrittenAgainWhenAllExecutorsAreKilled() throws Exception {
    try (NodeProcess node = NodeProcess.in(directory).start();
        LocalCluster cluster = start()) {
      JavaPairRDD<Integer, byte[]> shuffled = written(cluster);
      kill(cluster, executors(cluster, node));

      assertReadAgain(cluster, shuffled);
    }
  }

  @Test
  void executorsThatHaveWrittenAreReleased() throws Exception {
    try (NodeProcess node = NodeProcess.in(directory).start();
        LocalCluster cluster =
            start(
                "spark.dynamicAllocation.enabled",
                "true",
                "spark.dynamicAllocation.initialExecutors",
                "2",
                "spark.dynamicAllocation.minExecutors",
                "0",
                "spark.dynamicAllocation.executorIdleTimeout",
                "2s",
                LocalCluster.REMOVE_DELAY,
                "0",
                "spark.executor.cores",
                "1")) {
      JavaPairRDD<Integer, byte[]> shuffled = written(cluster);
      awaitNoExecutor(cluster, node);

      assertReadAgain(cluster, shuffled);
    }
  }

  @Test
  void mapOutputsAreReadAfterTheDaemonIsKilledAndRestarted() throws Exception {
    try (NodeProcess node = NodeProcess.in(directory).start();
        LocalCluster cluster = start()) {
      JavaPairRDD<Integer, byte[]> shuffled = written(cluster);
      kill(cluster, executors(cluster, node));
      node.restart();

      Written again = new Written(cluster);
      assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(DATA.answer());
      again.assertNothing(cluster);
    }
  }

  /** If the blocks of one executor after the other failed, the job would end after four of them. */
  @Test
  void aNodeThatHangsCostsOneAttemptHoweverManyExecutorsAreGone() throws Exception {
    try (NodeProcess node = NodeProcess.in(directory).start();
        LocalCluster cluster =
            start(
                "spark.master", "local-cluster[5,1,1024]",
                "spark.cores.max", "5",
                "spark.shuffle.rdma.read.timeout", "2s",
                "spark.shuffle.rdma.locate.timeout", "2s")) {
      JavaPairRDD<Integer, byte[]> shuffled = written(cluster);
      kill(cluster, executors(cluster, node));
      Retried retried = new Retried(node);
      cluster.context().sc().addSparkListener(retried);
      node.signal("STOP");

      CompletableFuture<Map<Integer, Long>> answer =
          CompletableFuture.supplyAsync(() -> KnownShuffle.answerOf(shuffled));
      assertThat(answer.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo(DATA.answer());
      cluster.metrics();
      assertThat(retried.attempts).as("attempts at the reducing stage").hasValue(2);
    }
  }

  /** The node takes one shuffle, and half of the next one. */
  @Test
  void mapOutputsThatTheNodeDoesNotTakeAreReadFromTheirExecutors() throws Exception {
    int limit = DATA.maps() + DATA.maps() / 2;
    try (NodeProcess node =
            NodeProcess.in(directory).set("sluice.node.maxMapOutputs", limit).start();
        LocalCluster cluster = start()) {
      JavaPairRDD<Integer, byte[]> taken = written(cluster);
      JavaPairRDD<Integer, byte[]> halfTaken = written(cluster);
      assertThat(cluster.totals().of("node.taken")).isBetween((long) limit, limit + 1L);
      assertThat(cluster.totals().of("node.refused")).isPositive();
      assertReadAgain(cluster, taken);
      assertReadAgain(cluster, halfTaken);
      assertThat(cluster.totals().stagedBytes()).isZero();

      kill(cluster, executors(cluster, node));
      cluster.metrics(); // The driver's other listeners have heard of it, too.
      assertReadAgain(cluster, taken);
      assertThat(KnownShuffle.answerOf(halfTaken)).isEqualTo(DATA.answer());
      PathAssert.allRead(cluster);
    }
  }

  /**
   * New executors read what the node has, and at first a shuffle that it does not take: most of
   * their READs must not be late. An executor avoids the node after seconds.
   */
  @Test
  void aNodeWhoseReadsAreLateIsAvoidedWhereExecutorsAreGone() throws Exception {
    KnownShuffle small = new KnownShuffle(16, 500, 400, 100);
    try (NodeProcess node =
            NodeProcess.in(directory)
                .set("sluice.node.maxMapOutputs", 2 * DATA.maps())
                .set("sluice.node.soft.faults", "delay=1.0:200")
                .start();
        LocalCluster cluster = start(HEDGE, "true")) {
      JavaPairRDD<Integer, byte[]> first = DATA.repartitioned(cluster.context(), PARTITIONS);
      JavaPairRDD<Integer, byte[]> second = small.repartitioned(cluster.context(), MANY);
      cluster.write(first);
      cluster.write(second);
      kill(cluster, executors(cluster, node));
      cluster.metrics(); // The driver's other listeners have heard of it, too.
      LocalCluster.await(
          "two new executors and the driver",
          () -> cluster.context().sc().statusTracker().getExecutorInfos().length == 3);
      JavaPairRDD<Integer, byte[]> own = small.repartitioned(cluster.context(), MANY);
      assertThat(KnownShuffle.answerOf(own)).isEqualTo(small.answer());
      assertThat(cluster.totals().of("node.refused")).isPositive();
      Written again = new Written(cluster);

      LocalCluster.await(
          "nothing is READ from the node",
          TIMEOUT,
          () -> {
            long before = cluster.totals().readBytes();
            assertThat(KnownShuffle.answerOf(second)).isEqualTo(small.answer());
            return cluster.totals().readBytes() == before;
          });
      long read = cluster.totals().readBytes();
      assertThat(KnownShuffle.answerOf(first)).isEqualTo(DATA.answer());
      assertThat(cluster.totals().readBytes()).isEqualTo(read);
      assertThat(cluster.totals().fallbackByReason()).containsOnlyKeys("LATE");
      assertThat(cluster.totals().of("hedge.bytes")).isLessThanOrEqualTo(read / 50);
      again.assertNothing(cluster);
    }
  }

  /** The map stage is over, and was right. */
  static JavaPairRDD<Integer, byte[]> written(LocalCluster cluster) {
    JavaPairRDD<Integer, byte[]> shuffled = DATA.repartitioned(cluster.context(), PARTITIONS);
    assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(DATA.answer());
    PathAssert.allRead(cluster);
    return shuffled;
  }

  static void assertReadAgain(LocalCluster cluster, JavaPairRDD<Integer, byte[]> shuffled) {
    Written again = new Written(cluster);
    long before = cluster.totals().readBytes();
    assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(DATA.answer());
    again.assertNothing(cluster);
    PathAssert.allRead(cluster);
    assertThat(cluster.totals().readBytes() - before)
        .as("all map outputs are READ from the node")
        .isGreaterThan(DATA.maps() * DATA.records() * (long) DATA.valueBytes() / 2);
  }

  /** Returns when Spark has heard of it. */
  static void kill(LocalCluster cluster, List<ProcessHandle> executors)
      throws InterruptedException {
    CountDownLatch removed = new CountDownLatch(executors.size());
    cluster
        .context()
        .sc()
        .addSparkListener(
            new SparkListener() {
              @Override
              public void onExecutorRemoved(SparkListenerExecutorRemoved event) {
                removed.countDown();
              }
            });
    executors.forEach(ProcessHandle::destroyForcibly);
    assertThat(removed.await(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
  }

  /** The executors among this process's children, which include the node daemon. */
  static List<ProcessHandle> executors(LocalCluster cluster, NodeProcess node) {
    return cluster.executors().stream().filter(process -> process.pid() != node.pid()).toList();
  }

  private static void awaitNoExecutor(LocalCluster cluster, NodeProcess node)
      throws InterruptedException {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (!executors(cluster, node).isEmpty()) {
      assertThat(System.nanoTime() - deadline).as("all executors end in time").isNegative();
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  /** Resumes a node when Spark writes map outputs again. Called on Spark's listener thread. */
  private static final class Retried extends SparkListener {
    private final NodeProcess node;
    private final AtomicInteger attempts = new AtomicInteger();

    Retried(NodeProcess node) {
      this.node = node;
    }

    @Override
    public void onStageSubmitted(SparkListenerStageSubmitted submitted) {
      if (submitted.stageInfo().shuffleDepId().isEmpty()) {
        attempts.incrementAndGet();
        return;
      }
      try {
        node.signal("CONT");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Counts repeated map tasks and stages from now on; there must be none. Called on Spark's
   * listener thread.
   */
  static final class Written extends SparkListener {
    private final AtomicInteger mapTasks = new AtomicInteger();
    private final AtomicInteger retries = new AtomicInteger();

    Written(LocalCluster cluster) {
      cluster.metrics(); // earlier events have arrived
      cluster.context().sc().addSparkListener(this);
    }

    @Override
    public void onStageSubmitted(SparkListenerStageSubmitted submitted) {
      retries.addAndGet(submitted.stageInfo().attemptNumber());
      if (submitted.stageInfo().shuffleDepId().isDefined()) {
        mapTasks.addAndGet(submitted.stageInfo().numTasks());
      }
    }

    @Override
    public void onTaskStart(SparkListenerTaskStart start) {
      retries.addAndGet(start.stageAttemptId());
    }

    void assertNothing(LocalCluster cluster) {
      cluster.metrics();
      String node =
          "the node took %d map outputs and refused %d"
              .formatted(cluster.totals().of("node.taken"), cluster.totals().of("node.refused"));
      assertThat(mapTasks).as("map tasks that ran again; %s", node).hasValue(0);
      assertThat(retries).as("stages that were tried again; %s", node).hasValue(0);
    }
  }
}
