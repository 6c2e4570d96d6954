// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** More faults of executors and of the node daemon that has their map outputs. */
final class NodeLongIT {
  /** Larger than what a reduce task has in flight, with the settings of the tests that use it. */
  private static final KnownShuffle LARGE = new KnownShuffle(16, 20_000, 400, 200);

  @TempDir private Path directory;

  @Test
  void anExecutorThatIsKilledInMidReduceFailsNothing() throws Exception {
    Gate gate = Gate.create(directory);
    try (NodeProcess node = NodeProcess.in(directory).start();
        LocalCluster cluster = NodeIT.start(directory, "spark.reducer.maxSizeInFlight", "1m")) {
      JavaPairRDD<Integer, byte[]> shuffled =
          LARGE.repartitioned(cluster.context(), NodeIT.PARTITIONS);
      shuffled.count();
      NodeIT.Written again = new NodeIT.Written(cluster);
      CompletableFuture<Map<Integer, Long>> answer = answerAfter(gate, shuffled);
      gate.awaitArrivals(2);
      NodeIT.kill(cluster, NodeIT.executors(cluster, node).subList(0, 1));
      gate.open();

      assertThat(answer.get(NodeIT.TIMEOUT.toMillis(), TimeUnit.MILLISECONDS))
          .isEqualTo(LARGE.answer());
      again.assertNothing(cluster);
    }
  }

  private static CompletableFuture<Map<Integer, Long>> answerAfter(
      Gate gate, JavaPairRDD<Integer, byte[]> shuffled) {
    JavaPairRDD<Integer, byte[]> gated = shuffled.mapPartitionsToPair(gate::pass, true);
    return CompletableFuture.supplyAsync(() -> KnownShuffle.answerOf(gated));
  }

  @Test
  void aNodeThatIsKilledAndStartedAgainInMidReduceFailsNothing() throws Exception {
    Gate gate = Gate.create(directory);
    try (NodeProcess node = NodeProcess.in(directory).start();
        LocalCluster cluster = NodeIT.start(directory, "spark.reducer.maxSizeInFlight", "1m")) {
      JavaPairRDD<Integer, byte[]> shuffled =
          LARGE.repartitioned(cluster.context(), NodeIT.PARTITIONS);
      shuffled.count();
      PathAssert.allRead(cluster); // and all is counted
      NodeIT.kill(cluster, NodeIT.executors(cluster, node));
      NodeIT.Written again = new NodeIT.Written(cluster);
      CompletableFuture<Map<Integer, Long>> answer = answerAfter(gate, shuffled);
      gate.awaitArrivals(2);
      node.restart();
      gate.open();

      assertThat(answer.get(NodeIT.TIMEOUT.toMillis(), TimeUnit.MILLISECONDS))
          .isEqualTo(LARGE.answer());
      again.assertNothing(cluster);
      assertThat(cluster.totals().read()).isPositive();
    }
  }

  /** With Spark's own retries each fetch would take eight minutes. */
  @Test
  void aNodeThatHangsIsLeftAloneWhereExecutorsLive() throws Exception {
    try (NodeProcess node = NodeProcess.in(directory).start();
        LocalCluster cluster =
            NodeIT.start(
                directory,
                "spark.shuffle.rdma.read.timeout",
                "2s",
                "spark.shuffle.rdma.locate.timeout",
                "2s")) {
      JavaPairRDD<Integer, byte[]> shuffled = NodeIT.written(cluster);
      NodeIT.Written again = new NodeIT.Written(cluster);
      node.signal("STOP");

      CompletableFuture<Map<Integer, Long>> answer =
          CompletableFuture.supplyAsync(() -> KnownShuffle.answerOf(shuffled));
      assertThat(answer.get(NodeIT.TIMEOUT.toMillis(), TimeUnit.MILLISECONDS))
          .isEqualTo(NodeIT.DATA.answer());
      again.assertNothing(cluster);
      node.signal("CONT");
    }
  }

  @Test
  void processesThatAuthenticateReadAtTheNodeAsWell() throws Exception {
    try (NodeProcess node = NodeProcess.in(directory).start();
        LocalCluster cluster =
            NodeIT.start(
                directory,
                "spark.authenticate",
                "true",
                "spark.authenticate.secret",
                "of this test")) {
      JavaPairRDD<Integer, byte[]> shuffled = NodeIT.written(cluster);
      NodeIT.kill(cluster, NodeIT.executors(cluster, node));

      NodeIT.assertReadAgain(cluster, shuffled);
    }
  }
}
