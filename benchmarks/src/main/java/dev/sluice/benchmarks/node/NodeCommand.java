// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import dev.sluice.benchmarks.Benchmark;
import dev.sluice.benchmarks.Comparison.Pairs;
import dev.sluice.benchmarks.stage.SampleOutputs;
import dev.sluice.benchmarks.storm.StormRunner;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.testkit.NodeCluster;
import dev.sluice.testkit.NodeProcess;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.Sums;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import org.apache.commons.lang3.function.FailableIntConsumer;
import org.apache.commons.lang3.function.FailableRunnable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code bin/bench node}: the node daemon against Spark's external shuffle service. */
@Command(
    name = "node",
    sortOptions = false,
    description = {
      "Measure the node daemon, compared with Spark's external shuffle service",
      "Restarts a daemon, and stops a server. Then measures a storm of small blocks, and the time"
          + " of a hand-over."
    })
public final class NodeCommand extends Benchmark {
  private static final int CORES = 2;

  /** Parts of the benchmark. */
  enum Part {
    RESTARTED_SERVER,
    STOPPED_SERVER,
    STORM,
    HAND_OVER
  }

  @Option(names = "--quick", description = "One round")
  private boolean quick;

  @Option(
      names = "--only",
      split = ",",
      description = "Parts: ${COMPLETION-CANDIDATES} (default: all)")
  private Set<Part> only = EnumSet.allOf(Part.class);

  @Override
  protected void measure(Path directory) throws Exception {
    progress.expect(only.size());
    Set<Sums> answers = new HashSet<>();
    StruckServers struck = new StruckServers(directory.resolve("struck"), pairs, answers);
    measure(Part.RESTARTED_SERVER, inRounds(struck::restarted));
    measure(Part.STOPPED_SERVER, inRounds(struck::stopped));
    if (answers.size() > 1) {
      problems.add("the answers differ: " + answers);
    }
    measure(Part.STORM, () -> storm(directory.resolve("storm")));
    measure(Part.HAND_OVER, () -> HandOvers.measure(directory.resolve("hand-over"), pairs));
  }

  /** Runs a part; if it fails, the other parts still run. */
  private void measure(Part part, FailableRunnable<Exception> measurement) throws Exception {
    if (!only.contains(part)) {
      return;
    }
    progress.begin(part.toString());
    try {
      measurement.run();
    } catch (IOException e) {
      problems.add(part + ": " + e.getMessage());
    }
  }

  private FailableRunnable<Exception> inRounds(FailableIntConsumer<Exception> measurement) {
    return () -> {
      for (int round = 0; round < (quick ? 1 : 5); round++) {
        measurement.accept(round);
      }
    };
  }

  private void storm(Path directory) throws IOException, InterruptedException {
    try (NodeCluster sluice =
            NodeCluster.start(directory.resolve("sluice"), Shuffle.SLUICE, CORES);
        NodeCluster stock = NodeCluster.start(directory.resolve("stock"), Shuffle.STOCK, CORES)) {
      rows.addAll(
          StormRunner.onNodes(
              quick,
              shuffle -> (shuffle == Shuffle.SLUICE ? sluice : stock).conf(CORES, 1),
              directory.resolve("runs"),
              problems,
              progress));
    }
  }

  /**
   * Measures the wall time that a hand-over adds to a task, whose thread waits for it. {@link
   * NodeCommand} calls it on its thread. Each round hands over the same files as a new shuffle.
   */
  static final class HandOvers {
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
      NodeProcess node =
          NodeProcess.configure(directory.resolve("node"), local, "127.0.0.1", "soft");
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
}
