package dev.sluice.spark.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.Totals;
import dev.sluice.spark.cluster.UnusedPort;
import dev.sluice.spark.deployment.Deployment.Result;
import dev.sluice.spark.scenarios.NodeProcess;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Executors come and go, and the block server of their node keeps the map outputs. */
final class NodeStandaloneIT {
  @Test
  void blocksOfExecutorsThatHaveLeftAreReadAtTheirNode(@TempDir Path directory) throws Exception {
    try (NodeProcess _ = NodeProcess.start(directory);
        Deployment deployment = Deployment.start("node")) {
      Result result =
          deployment.submitWithJars(
              "leave",
              Map.of(
                  "spark.shuffle.rdma.node", "required",
                  "spark.shuffle.rdma.node.socket", NodeProcess.socket(directory).toString(),
                  "spark.dynamicAllocation.enabled", "true",
                  "spark.dynamicAllocation.initialExecutors", "2",
                  "spark.dynamicAllocation.maxExecutors", "2",
                  "spark.dynamicAllocation.executorIdleTimeout", "2s"),
              ShuffleApplication.LEAVE);

      assertAllRead(result);
    }
  }

  /** That is what Spark relies on, and what is not READ at the node comes from there. */
  @Test
  void blocksThatSparksServiceHasAsWellAreReadAtTheNode(@TempDir Path directory) throws Exception {
    String port = Integer.toString(UnusedPort.find());
    try (NodeProcess _ = NodeProcess.start(directory);
        Deployment deployment =
            Deployment.start(
                "node-and-service",
                "-Dspark.shuffle.service.enabled=true",
                "-Dspark.shuffle.service.port=" + port)) {
      Result result =
          deployment.submitWithJars(
              "leave",
              Map.of(
                  "spark.shuffle.rdma.node", "auto",
                  "spark.shuffle.rdma.node.socket", NodeProcess.socket(directory).toString(),
                  "spark.shuffle.service.enabled", "true",
                  "spark.shuffle.service.port", port,
                  "spark.dynamicAllocation.enabled", "true",
                  "spark.dynamicAllocation.initialExecutors", "2",
                  "spark.dynamicAllocation.maxExecutors", "2",
                  "spark.dynamicAllocation.executorIdleTimeout", "2s"),
              ShuffleApplication.LEAVE);

      assertAllRead(result);
    }
  }

  /** Each time more, whichever executors have left. */
  private static void assertAllRead(Result result) {
    assertThat(result.exitCode()).as(result.end()).isZero();
    assertThat(result.rounds()).hasSize(3).allMatch(Round::right);
    assertThat(result.rounds())
        .extracting(Round::totals)
        .allSatisfy(totals -> assertThat(totals.fallbackByReason()).isEmpty())
        .extracting(Totals::read)
        .isSorted()
        .doesNotHaveDuplicates();
  }
}
