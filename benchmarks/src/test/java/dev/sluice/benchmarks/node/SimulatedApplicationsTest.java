// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.node.NodeLevels.SimulatedApplications;
import dev.sluice.benchmarks.stage.SampleOutputs;
import dev.sluice.node.NodeDaemon;
import dev.sluice.node.NodeOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class SimulatedApplicationsTest {
  @TempDir Path directory;

  @Test
  void theNodeHasNothingOfThemWhenTheyHaveEnded() throws Exception {
    Path local = Files.createDirectory(directory.resolve("local"));
    Path socket = directory.resolve("node.sock");
    SampleOutputs outputs =
        new SampleOutputs(Files.createDirectory(local.resolve("bare")), 4, 4, 10_000);
    outputs.write();
    Map<String, String> settings =
        Map.of(
            "sluice.node.directories", local.toString(),
            "sluice.node.socket", socket.toString(),
            "sluice.node.host", "127.0.0.1",
            "sluice.node.provider", "soft",
            "sluice.node.minFreeBytes", "1m",
            "sluice.node.http", "");
    try (NodeDaemon _ = NodeDaemon.start(NodeOptions.of(settings))) {
      SimulatedApplications applications = new SimulatedApplications(socket, outputs);
      applications.run("bare-1");
      applications.run("bare-2");
      while (!kept(local.resolve(".sluice")).equals(List.of("lock"))) {
        Thread.sleep(20);
      }
    }
    assertThat(kept(local.resolve("bare"))).hasSize(12);
  }

  private static List<String> kept(Path folder) throws Exception {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }
}
