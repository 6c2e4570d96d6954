// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.mapreduce;

import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.hadoop.HadoopCluster;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A NodeManager is lost while reduce tasks READ map outputs of its node. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class NodeLossIT {
  @TempDir private Path directory;

  @Test
  void mapTasksOfALostNodeRunAgain() throws Exception {
    Path root = Path.of(System.getProperty("sluice.root"));
    try (HadoopCluster cluster =
        HadoopCluster.start(directory.resolve("cluster"), root, 2, 3072, "soft")) {
      WordCounting words =
          new WordCounting(cluster, directory.resolve("words"), cluster.job(Shuffle.SLUICE));
      // Otherwise the ApplicationMaster tries for minutes to end containers of the lost node.
      words.set("yarn.client.nodemanager-connect.max-wait-ms", "1000");
      words.set("yarn.client.nodemanager-connect.retry-interval-ms", "200");
      words.set("ipc.client.connect.max.retries", "2");
      Gate gate = words.startBehindGate();
      cluster.killNode(3 - cluster.nodeOfMaster());
      cluster.awaitNodes(1);
      gate.open();
      words.check();
    }
  }
}
