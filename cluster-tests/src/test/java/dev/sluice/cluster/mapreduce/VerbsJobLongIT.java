// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testkit.Directories;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.hadoop.HadoopCluster;
import dev.sluice.verbs.NeedsRdmaDevice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A whole job of MapReduce whose daemons and reduce tasks use a real device. */
@NeedsRdmaDevice
@Timeout(value = 10, unit = TimeUnit.MINUTES)
final class VerbsJobLongIT {
  private static final int NODES = 2;

  @TempDir private Path directory;

  @Test
  void everyMapOutputIsReadByVerbs() throws Exception {
    Path root = Path.of(System.getProperty("sluice.root"));
    Path files = directory.resolve("cluster");
    try (HadoopCluster cluster = HadoopCluster.start(files, root, NODES, 1536, "verbs")) {
      WordCounting words =
          new WordCounting(cluster, directory.resolve("words"), cluster.job(Shuffle.SLUICE));
      words.set("sluice.mapreduce.provider", "verbs");
      words.check();
      words.checkThatAllWasRead();
      List<Path> logs = Directories.files(files, "sluice-node.log"::equals);
      assertThat(logs).hasSize(NODES);
      for (Path log : logs) {
        assertThat(Files.readString(log)).contains("RDMA provider is verbs, device ");
      }
    }
  }
}
