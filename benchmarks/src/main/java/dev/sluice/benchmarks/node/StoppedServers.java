package dev.sluice.benchmarks.node;

import dev.sluice.benchmarks.Pairs;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.chaos.cluster.ExecutorProcess;
import dev.sluice.benchmarks.node.NodeJob.Reduced;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * What it takes to read map outputs while the process that serves them stands still in the middle
 * of the reduce stage. Used by one thread.
 *
 * @param answers to add to; different ones say that some are wrong
 */
record StoppedServers(Path directory, Pairs pairs, Set<String> answers) {
  private static final int EXECUTORS = 2;

  /** What stands still does so until the reduce stage could long have ended. */
  private static final long STOP_MS = 10_000;

  private static final double LEAST_LOST_SECONDS = 1;

  /** Nothing but executors keeps map outputs. */
  private static final Map<String, String> EXECUTORS_SERVE =
      Map.of("spark.shuffle.rdma.node", "off", "spark.shuffle.service.enabled", "false");

  /** What can be stopped. */
  @FunctionalInterface
  private interface Victim {
    /** Its process, once it has map outputs. */
    long pid(NodeCluster cluster, NodeDriver driver) throws IOException, InterruptedException;
  }

  /**
   * What a stop took.
   *
   * @param provider of the READs
   */
  private record Lost(double seconds, String provider) {}

  /** The block server, and an executor that has no core for reduce tasks: those are elsewhere. */
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
    double stock = lost.get(Shuffle.STOCK).seconds();
    if (stock < LEAST_LOST_SECONDS) {
      throw new IOException("the stop cost the stock shuffle nothing: it met no reduce stage");
    }
    Lost sluice = lost.get(Shuffle.SLUICE);
    // A device READs without the process.
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
