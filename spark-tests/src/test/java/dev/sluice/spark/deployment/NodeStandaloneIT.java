// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.node.NodeMain;
import dev.sluice.spark.account.Totals;
import dev.sluice.spark.deployment.Deployment.Result;
import dev.sluice.spark.other.OtherJava;
import dev.sluice.spark.scenarios.NodeProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Executors come and go, and the block server of their node keeps the map outputs. */
final class NodeStandaloneIT {
  @TempDir private Path directory;

  @Test
  void blocksOfExecutorsThatHaveLeftAreReadAtTheirNode() throws Exception {
    try (NodeProcess _ = NodeProcess.in(directory).start();
        Deployment deployment = Deployment.start("node")) {
      assertAllRead(deployment.submitLeaving(node()));
    }
  }

  @Test
  void theDaemonMayBeNewerThanTheExecutorsAndRunOnANewerJdk() throws Exception {
    String jar = NodeMain.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    Path newer = DropInJar.copy(Path.of(jar), directory.resolve("node.jar"), "99.0.0+cafe");
    String classPath = System.getProperty("java.class.path").replace(jar, newer.toString());
    try (NodeProcess daemon =
            NodeProcess.in(directory).withJars(classPath, OtherJava.home(27)).start();
        Deployment deployment = Deployment.startAllOn(OtherJava.home(21), "node-of-27")) {
      Result result = deployment.submitLeaving(node());
      assertAllRead(result);
      assertThat(daemon.output())
          .contains("This is sluice-node 99.0.0+cafe", "Java 27")
          .doesNotContain("WARN");
      assertThat(result.log().lines().filter(line -> line.contains("runs Sluice")))
          .singleElement()
          .asString()
          .contains("Node daemon ", "runs Sluice 99.0.0+cafe, but the driver runs 0.");
    }
  }

  /** Each Worker is a host to Spark, and has a block server of its own. */
  @Test
  void blocksOfSeveralWorkersAreReadAtTheirNodes() throws Exception {
    String[] hosts = {"127.0.0.1", "127.0.0.2"};
    try (Deployment deployment = Deployment.startOnHosts("nodes", hosts);
        NodeProcess _ = startNode(deployment, 0, hosts[0]);
        NodeProcess _ = startNode(deployment, 1, hosts[1])) {
      Map<String, String> settings = new HashMap<>(node());
      // The path is relative to an executor's directory, so that each node has its own.
      settings.put("spark.shuffle.rdma.node.socket", "../../node.sock");
      assertAllRead(deployment.submitLeaving(settings));
      assertThat(deployment.workOf(0)).isDirectoryContaining("glob:**/app-*");
      assertThat(deployment.workOf(1)).isDirectoryContaining("glob:**/app-*");
    }
  }

  private NodeProcess startNode(Deployment deployment, int worker, String host) throws Exception {
    return NodeProcess.in(Files.createDirectory(directory.resolve(host)))
        .set("sluice.node.socket", NodeProcess.socket(deployment.workOf(worker)))
        .set("sluice.node.host", host)
        .start();
  }

  private Map<String, String> node() {
    return Map.of(
        "spark.shuffle.rdma.node",
        "on",
        "spark.shuffle.rdma.node.socket",
        NodeProcess.socket(directory).toString());
  }

  /** The count grows each time, whichever executors have left. */
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
