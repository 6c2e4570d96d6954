// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.FetchFailed;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Executors serve their own map outputs. If their node has a block server, it serves them as well.
 */
final class NodeAutoIT {
  private static final KnownShuffle DATA = new KnownShuffle(16, 20_000, 400, 200);
  private static final int PARTITIONS = 8;
  private static final Duration TIMEOUT = Duration.ofMinutes(2);

  @TempDir private Path directory;

  private LocalCluster start() {
    return start("5s");
  }

  /**
   * @param timeout how long to wait for a block server
   */
  private LocalCluster start(String timeout) {
    return LocalCluster.start(
        "spark.shuffle.rdma.node",
        "auto",
        "spark.shuffle.rdma.node.socket",
        NodeProcess.socket(directory).toString(),
        "spark.shuffle.rdma.node.timeout",
        timeout,
        "spark.reducer.maxSizeInFlight",
        "1m",
        "spark.local.dir",
        directory.resolve("local").toString());
  }

  @Test
  void withoutABlockServerExecutorsServeAllBlocks() throws Exception {
    try (LocalCluster cluster = start("1s")) {
      assertRight(cluster);
      PathAssert.allRead(cluster);
      await(cluster, "node.refused", DATA.maps());
      assertThat(cluster.totals().of("node.taken")).isZero();
    }
  }

  @Test
  void executorsGoOnWhenTheirBlockServerDies() throws Exception {
    try (NodeProcess node = NodeProcess.start(directory);
        LocalCluster cluster = start()) {
      assertRight(cluster);
      await(cluster, "node.taken", DATA.maps());
      node.kill();
      assertRight(cluster);
      await(cluster, "node.refused", DATA.maps());
      assertThat(cluster.totals().of("node.taken")).isEqualTo(DATA.maps());
      PathAssert.allRead(cluster);
    }
  }

  /** Spark has them written again, as without a block server, but no fetch fails before. */
  @Test
  void blocksOfAnExecutorThatIsKilledComeFromItsNode() throws Exception {
    Gate gate = Gate.create(directory);
    try (NodeProcess node = NodeProcess.start(directory);
        LocalCluster cluster = start()) {
      JavaPairRDD<Integer, byte[]> shuffled = DATA.repartitioned(cluster.context(), PARTITIONS);
      shuffled.count();
      await(cluster, "node.taken", DATA.maps());
      FailedFetches failed = new FailedFetches();
      cluster.context().sc().addSparkListener(failed);
      JavaPairRDD<Integer, byte[]> gated = shuffled.mapPartitionsToPair(gate::pass, true);
      CompletableFuture<Map<Integer, Long>> answer =
          CompletableFuture.supplyAsync(() -> KnownShuffle.answerOf(gated));
      gate.awaitArrivals(2);
      NodeIT.kill(cluster, NodeIT.executors(cluster, node).subList(0, 1));
      gate.open();

      assertThat(answer.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo(DATA.answer());
      cluster.metrics();
      assertThat(failed.addresses).isEmpty();
    }
  }

  private static void assertRight(LocalCluster cluster) {
    assertThat(KnownShuffle.answerOf(DATA.repartitioned(cluster.context(), PARTITIONS)))
        .isEqualTo(DATA.answer());
  }

  private static void await(LocalCluster cluster, String counter, long value)
      throws InterruptedException {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (cluster.totals().of(counter) < value) {
      assertThat(System.nanoTime() - deadline)
          .as("%s of %s", counter, cluster.totals().counters())
          .isNegative();
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  /**
   * Notes the address of each failed fetch. Tasks do not know the address of map outputs that Spark
   * has given up. Called on Spark's listener thread.
   */
  private static final class FailedFetches extends SparkListener {
    private final ConcurrentLinkedQueue<String> addresses = new ConcurrentLinkedQueue<>();

    @Override
    public void onTaskEnd(SparkListenerTaskEnd end) {
      if (end.reason() instanceof FetchFailed failed && failed.bmAddress() != null) {
        addresses.add(failed.toErrorString());
      }
    }
  }
}
