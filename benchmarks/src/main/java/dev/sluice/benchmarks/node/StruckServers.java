// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.Pairs;
import dev.sluice.benchmarks.node.NodeJob.Reduced;
import dev.sluice.benchmarks.node.NodeJob.Step;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.DriverProcess.ClusterConf;
import dev.sluice.testkit.ExecutorProcess;
import dev.sluice.testkit.NodeCluster;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.Sums;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.apache.commons.lang3.function.FailableRunnable;

/**
 * Measures the time that a job loses when the process that serves its map outputs is restarted or
 * stopped in mid-reduce. {@link NodeCommand} calls it on its thread, a round at a time.
 *
 * @param directory directory of the clusters
 * @param pairs gets the values
 * @param answers set to which answers are added; more than one element means that some are wrong
 */
record StruckServers(Path directory, Pairs pairs, Set<Sums> answers) {
  private static final int EXECUTORS = 2;
  private static final int EXECUTOR_MB = 640;

  /** Time of the fault, in the first half of the reduce stage. */
  private static final long STRIKE_MS = 2_000;

  /** Goal of {@code goals.txt} for the seconds that a restart may cost. */
  private static final double MOST_LOST_SECONDS = 6;

  /** Duration of a stop: longer than the rest of the reduce stage. */
  private static final long STOP_MS = 10_000;

  /** If the stop cost the stock shuffle less, it came too late to show anything. */
  private static final double LEAST_LOST_SECONDS = 1;

  /** Settings with which only executors serve map outputs. */
  private static final Map<String, String> EXECUTORS_SERVE =
      Map.of("spark.shuffle.rdma.node", "off", "spark.shuffle.service.enabled", "false");

  /** Chooses what to do to a server in mid-reduce. */
  @FunctionalInterface
  private interface Choice {
    /** Called once there are map outputs. */
    FailableRunnable<Exception> blow(NodeCluster cluster, AnsweringProcess driver)
        throws IOException, InterruptedException;
  }

  /**
   * Cost of a blow.
   *
   * @param seconds time that the job took longer
   * @param provider provider of the READs
   */
  private record Lost(double seconds, String provider) {}

  /** Restarts the node daemon; the executors that wrote the map outputs are already gone. */
  void restarted(int round) throws IOException, InterruptedException {
    Lost lost =
        lost(
            "restarted-" + round,
            Shuffle.SLUICE,
            Map.of(),
            (cluster, driver) -> {
              cluster.killExecutors();
              driver.ask(Step.AWAIT_OTHERS.name());
              reduce(driver); // warms up the others
              return () -> {
                cluster.daemon().kill();
                cluster.daemon().start();
              };
            });
    pairs.less("node-restarted-lost", "s", lost.seconds(), "6 s", MOST_LOST_SECONDS);
  }

  /** Stops the server; then an executor whose core is occupied, so that it runs no reduce task. */
  void stopped(int round) throws IOException, InterruptedException {
    stopped(
        "stopped", "service", Map.of(), (cluster, _) -> stopping(cluster.serverPid()), round);
    stopped(
        "stopped-executor",
        "stock",
        EXECUTORS_SERVE,
        (_, driver) -> stopping(driver.ask(Step.HOLD_EXECUTOR.name(), Long.class)),
        round);
  }

  private void stopped(
      String what, String partner, Map<String, String> conf, Choice choice, int round)
      throws IOException, InterruptedException {
    Map<Shuffle, Lost> lost = new EnumMap<>(Shuffle.class);
    for (Shuffle shuffle : Shuffle.inTurn(round)) {
      lost.put(shuffle, lost(what + "-" + shuffle.label() + "-" + round, shuffle, conf, choice));
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

  private static FailableRunnable<Exception> stopping(long pid) {
    ExecutorProcess process = new ExecutorProcess("victim", pid);
    return () -> {
      process.signal("STOP");
      try {
        Thread.sleep(STOP_MS);
      } finally {
        process.signal("CONT");
      }
    };
  }

  private Lost lost(String run, Shuffle shuffle, Map<String, String> more, Choice choice)
      throws IOException, InterruptedException {
    Path own = directory.resolve(run);
    try (NodeCluster cluster = NodeCluster.start(own, shuffle, EXECUTORS)) {
      Map<String, String> conf = new HashMap<>(cluster.conf(EXECUTORS, 1));
      conf.putAll(more);
      try (AnsweringProcess driver =
          new DriverProcess(own.resolve("driver"))
              .start(
                  NodeJob.class, shuffle, new ClusterConf(1, 1, EXECUTOR_MB, "auto", conf))) {
        reduce(driver);
        FailableRunnable<Exception> blow = choice.blow(cluster, driver);
        Reduced before = reduce(driver);
        FutureTask<Void> strike =
            new FutureTask<>(
                () -> {
                  Thread.sleep(STRIKE_MS);
                  blow.run();
                  return null;
                });
        Thread.startVirtualThread(strike);
        Reduced struck = reduce(driver);
        strike.get();
        return new Lost(struck.seconds() - before.seconds(), struck.provider());
      } catch (ExecutionException e) {
        throw new IOException("the fault could not be caused: " + e.getCause(), e.getCause());
      }
    }
  }

  private Reduced reduce(AnsweringProcess driver) throws IOException, InterruptedException {
    Reduced reduced = driver.ask(Step.REDUCE.name(), Reduced.class);
    answers.add(reduced.answer());
    return reduced;
  }
}
