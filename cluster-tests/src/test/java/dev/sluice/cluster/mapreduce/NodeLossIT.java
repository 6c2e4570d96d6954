// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.hadoop.HadoopCluster;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A NodeManager is lost while a reduce task READs map outputs of its node. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class NodeLossIT {
  private static final int NODE_MB = 3072;

  /** The ApplicationMaster's node has room for one map task; the other node has to run others. */
  private static final int MAP_MB = NODE_MB / 2;

  @TempDir private Path directory;

  @Test
  void mapTasksOfALostNodeRunAgain() throws Exception {
    Path root = Path.of(System.getProperty("sluice.root"));
    try (HadoopCluster cluster =
        HadoopCluster.start(directory.resolve("cluster"), root, 2, NODE_MB, "soft")) {
      WordCounting words =
          new WordCounting(
              cluster,
              directory.resolve("words"),
              cluster.job(Shuffle.SLUICE),
              WordCounting.WORDS_OF_SEVERAL_READS);
      // Otherwise the ApplicationMaster tries for minutes to end containers of the lost node.
      words.set("yarn.client.nodemanager-connect.max-wait-ms", "1000");
      words.set("yarn.client.nodemanager-connect.retry-interval-ms", "200");
      words.set("ipc.client.connect.max.retries", "2");
      words.set("mapreduce.map.memory.mb", Integer.toString(MAP_MB));
      SlowReduce slow = words.slowReduce();
      words.job().submit();
      words.await(
          "one reduce task copies, and the other one has READ all map outputs",
          () -> slow.waiting() == 1 && words.readMaps() == WordCounting.MAPS);
      int lost = 3 - cluster.nodeOfMaster();
      List<TaskAttemptID> lostMaps = words.finishedMaps(cluster.host(lost));
      assertThat(lostMaps).as("map tasks that ended on the node").isNotEmpty();
      cluster.killNode(lost);
      cluster.awaitNodes(1);
      words.await(
          "other attempts of the map tasks of the lost node", () -> words.haveRunAgain(lostMaps));
      slow.open();
      words.check();
      // No node that is lost answers by HTTP, so all that was copied after the loss was READ.
      words.checkThatAllWasRead();
    }
  }
}
