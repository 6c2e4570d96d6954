// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import dev.sluice.benchmarks.Pairs;
import dev.sluice.benchmarks.stage.SampleOutputs;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.testkit.NodeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;

/**
 * Measures the wall time that a hand-over adds to a task, whose thread waits for it. {@link
 * NodeCommand} calls it on its thread. Each round hands over the same files as a new shuffle.
 */
final class HandOvers {
  private static final int OUTPUTS = 200;
  private static final int PARTITIONS = 400;
  private static final int PARTITION_BYTES = 1_000;
  private static final int WARM_UP = 10;
  private static final int ROUNDS = 10;
  private static final NodeClient.Limits LIMITS =
      new NodeClient.Limits(Duration.ofSeconds(10), Duration.ofSeconds(10));

  private HandOvers() {}

  static void measure(Path directory, Pairs pairs) throws IOException, InterruptedException {
    Path local = Files.createDirectories(directory.resolve("local"));
    SampleOutputs outputs = new SampleOutputs(local, OUTPUTS, PARTITIONS, PARTITION_BYTES);
    outputs.write();
    NodeProcess node = NodeProcess.configure(directory.resolve("node"), local, "127.0.0.1", "soft");
    node.start();
    try (NodeClient client =
        NodeClient.enter(node.socket(), new ProcessName("benchmark", "0"), "", LIMITS)) {
      for (int round = 0; round < WARM_UP + ROUNDS; round++) {
        double[] ms = handOver(client, outputs, round);
        if (round >= WARM_UP) {
          row(pairs, "median", ms[OUTPUTS / 2]);
          row(pairs, "mean", Arrays.stream(ms).sum() / OUTPUTS);
          row(pairs, "p99", ms[OUTPUTS * 99 / 100]);
        }
      }
    } finally {
      node.kill();
    }
  }

  /** Returns the sorted times of hand-overs in ms. */
  private static double[] handOver(NodeClient client, SampleOutputs outputs, int shuffle)
      throws IOException {
    double[] ms = new double[OUTPUTS];
    for (int map = 0; map < OUTPUTS; map++) {
      long start = System.nanoTime();
      client.handOver(shuffle, map, outputs.find(shuffle, map));
      ms[map] = (System.nanoTime() - start) / 1e6;
    }
    Arrays.sort(ms);
    return ms;
  }

  private static void row(Pairs pairs, String what, double ms) {
    pairs.less("node-hand-over-" + what, "ms", ms, "1 ms", 1);
  }
}
