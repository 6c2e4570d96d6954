// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.Pairs;
import dev.sluice.benchmarks.node.NodeJob.Reduced;
import dev.sluice.testkit.ExecutorProcess;
import dev.sluice.testkit.Shuffle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Measures the time to read map outputs while the process that serves them is stopped in
 * mid-reduce. {@link NodeCommand} calls it on its thread; the blow stops and continues the process
 * on a virtual thread ({@link NodeDriver}).
 *
 * @param answers set to which answers are added; more than one element means that some are wrong
 */
record StoppedServers(Path directory, Pairs pairs, Set<String> answers) {
  private static final int EXECUTORS = 2;

  /** Duration of the stop: longer than the rest of the reduce stage. */
  private static final long STOP_MS = 10_000;

  /** If the stop cost the stock shuffle less, it came too late to show anything. */
  private static final double LEAST_LOST_SECONDS = 1;

  /** Settings with which only executors serve map outputs. */
  private static final Map<String, String> EXECUTORS_SERVE =
      Map.of("spark.shuffle.rdma.node", "off", "spark.shuffle.service.enabled", "false");

  /** A process to stop. */
  @FunctionalInterface
  private interface Victim {
    /** Returns its process id, once it has map outputs. */
    long pid(NodeCluster cluster, NodeDriver driver) throws IOException, InterruptedException;
  }

  /**
   * Cost of a stop.
   *
   * @param seconds time that the job took longer
   * @param provider provider of the READs
   */
  private record Lost(double seconds, String provider) {}

  /** Stops the server; then an executor whose core is occupied, so that it runs no reduce task. */
  void measure(int round) throws IOException, InterruptedException {
    measure("stopped", "service", Map.of(), (cluster, _) -> cluster.serverPid(), round);
    measure(
        "stopped-executor", "stock", EXECUTORS_SERVE, (_, driver) -> driver.holdExecutor(), round);
  }

  private void measure(
      String what, String partner, Map<String, String> conf, Victim victim, int round)
      throws IOException, InterruptedException {
    Map<Shuffle, Lost> lost = new EnumMap<>(Shuffle.class);
    for (Shuffle shuffle : Shuffle.inTurn(round)) {
      Path own = directory.resolve(what + "-" + shuffle.label() + "-" + round);
      try (NodeCluster cluster = NodeCluster.here(own, shuffle, EXECUTORS)) {
        lost.put(shuffle, lost(cluster, own.resolve("driver"), shuffle, conf, victim));
      }
    }
    double stock = requireNonNull(lost.get(Shuffle.STOCK)).seconds();
    if (stock < LEAST_LOST_SECONDS) {
      throw new IOException("the stop cost the stock shuffle no time: it missed the reduce stage");
    }
    Lost sluice = requireNonNull(lost.get(Shuffle.SLUICE));
    // With verbs the device serves READs while the process is stopped.
    String suffix = sluice.provider().equals("verbs") ? "-verbs" : "";
    pairs.less("node-" + what + "-lost" + suffix, "s", sluice.seconds(), partner, stock);
  }

  private Lost lost(
      NodeCluster cluster, Path own, Shuffle shuffle, Map<String, String> conf, Victim victim)
      throws IOException, InterruptedException {
    Map<String, String> all = new HashMap<>(cluster.conf(EXECUTORS, 1));
    all.putAll(conf);
    try (NodeDriver driver = NodeDriver.start(own, shuffle, LostExecutors.LOAD, all)) {
      answers.add(driver.reduce().answer());
      ExecutorProcess process = new ExecutorProcess("victim", victim.pid(cluster, driver));
      Reduced before = driver.reduce();
      Reduced struck = driver.reduce(LostExecutors.STRIKE_MS, () -> stop(process));
      answers.add(before.answer());
      answers.add(struck.answer());
      return new Lost(struck.seconds() - before.seconds(), struck.provider());
    }
  }

  private static void stop(ExecutorProcess process) throws IOException, InterruptedException {
    process.signal("STOP");
    try {
      Thread.sleep(STOP_MS);
    } finally {
      process.signal("CONT");
    }
  }
}
