// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.Pairs;
import dev.sluice.benchmarks.storm.StormRunner;
import dev.sluice.testkit.Directories;
import dev.sluice.testkit.NodeCluster;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.Sums;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.apache.commons.lang3.function.FailableIntConsumer;
import org.apache.commons.lang3.function.FailableRunnable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code bin/bench node}: the node daemon against Spark's external shuffle service. */
@Command(
    name = "node",
    sortOptions = false,
    description = {
      "Measure the node daemon, compared with Spark's external shuffle service",
      "Restarts a daemon, and stops a server. Then measures a storm of small blocks, and the time of"
          + " a hand-over."
    })
public final class NodeCommand implements Callable<Integer> {
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

  @Mixin private ComparisonOutput output;

  private final Pairs pairs = new Pairs();
  private final List<String> problems = new ArrayList<>();
  private final List<Comparison> rows = new ArrayList<>();

  @Override
  public Integer call() throws Exception {
    Path directory = Directories.ofRun("node");
    Set<Sums> answers = new HashSet<>();
    StruckServers struck = new StruckServers(directory.resolve("struck"), pairs, answers);
    measure(Part.RESTARTED_SERVER, inRounds(struck::restarted));
    measure(Part.STOPPED_SERVER, inRounds(struck::stopped));
    if (answers.size() > 1) {
      problems.add("the answers differ: " + answers);
    }
    measure(Part.STORM, () -> storm(directory.resolve("storm")));
    measure(Part.HAND_OVER, () -> HandOvers.measure(directory.resolve("hand-over"), pairs));
    rows.addAll(0, pairs.comparisons());
    if (problems.isEmpty()) {
      Directories.delete(directory);
    }
    return output.write(rows, problems);
  }

  /** Runs a part; if it fails, the other parts still run. */
  private void measure(Part part, FailableRunnable<Exception> measurement) throws Exception {
    if (!only.contains(part)) {
      return;
    }
    System.err.println(part);
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
    try (NodeCluster sluice = NodeCluster.start(directory.resolve("sluice"), Shuffle.SLUICE, CORES);
        NodeCluster stock = NodeCluster.start(directory.resolve("stock"), Shuffle.STOCK, CORES)) {
      rows.addAll(
          StormRunner.onNodes(
              quick,
              shuffle -> (shuffle == Shuffle.SLUICE ? sluice : stock).conf(CORES, 1),
              directory.resolve("runs"),
              problems));
    }
  }
}
