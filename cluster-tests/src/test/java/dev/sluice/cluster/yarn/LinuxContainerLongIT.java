// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.yarn;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** LinuxContainerExecutor runs containers as the application's user. Runs as root. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class LinuxContainerLongIT {
  @TempDir private static Path directory;
  private static UserCluster cluster;

  @BeforeAll
  static void startCluster() throws Exception {
    UserCluster.assumeUsers(directory);
    cluster = UserCluster.start(directory, Map.of(), "");
  }

  @AfterAll
  static void endCluster() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  void mapOutputsOfReleasedExecutorsAreRead() throws Exception {
    cluster.runSpark(List.of());
  }

  @Test
  void mapOutputsOfMapReduceAreRead() throws Exception {
    cluster.runMapReduce(List.of("", ""));
  }
}
