// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.Comparison.Pairs;
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
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.apache.commons.lang3.function.FailableRunnable;

/**
 * Measures the time that a job loses when the process that serves its map outputs is restarted or
 * stopped in mid-reduce. {@link NodeCommand} calls it on its thread, a round at a time. A virtual
 * thread strikes while that thread waits for the job.
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

  /** Ways to strike a server. */
  private enum Blow {
    /** The node daemon is restarted; the executors that wrote the map outputs are already gone. */
    RESTARTED,
    /** The server is stopped. */
    STOPPED,
    /** An executor is stopped whose core is occupied, so that it runs no reduce task. */
    STOPPED_EXECUTOR;

    String label() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  void restarted(int round) throws Exception {
    double lost = lost(Blow.RESTARTED, Shuffle.SLUICE, round).seconds();
    pairs.less("node-restarted-lost", "s", lost, "6 s", MOST_LOST_SECONDS);
  }

  void stopped(int round) throws Exception {
    stopped(Blow.STOPPED, "service", round);
    stopped(Blow.STOPPED_EXECUTOR, "stock", round);
  }

  private void stopped(Blow blow, String partner, int round) throws Exception {
    Map<Shuffle, Reduced> lost = new EnumMap<>(Shuffle.class);
    for (Shuffle shuffle : Shuffle.inTurn(round)) {
      lost.put(shuffle, lost(blow, shuffle, round));
    }
    double stock = requireNonNull(lost.get(Shuffle.STOCK)).seconds();
    if (stock < LEAST_LOST_SECONDS) {
      throw new IOException("the stop cost the stock shuffle no time: it missed the reduce stage");
    }
    Reduced sluice = requireNonNull(lost.get(Shuffle.SLUICE));
    // With verbs the device serves READs while the process is stopped.
    String suffix = sluice.provider().equals("verbs") ? "-verbs" : "";
    String name = "node-%s-lost%s".formatted(blow.label(), suffix);
    pairs.less(name, "s", sluice.seconds(), partner, stock);
  }

  /** Returns what to do in mid-reduce. Called once there are map outputs. */
  private FailableRunnable<Exception> prepare(
      Blow blow, NodeCluster cluster, AnsweringProcess driver)
      throws IOException, InterruptedException {
    return switch (blow) {
      case RESTARTED -> {
        cluster.killExecutors();
        driver.ask(Step.AWAIT_OTHERS.name());
        reduce(driver); // warms up the others
        yield () -> {
          cluster.daemon().kill();
          cluster.daemon().start();
        };
      }
      case STOPPED -> stopping(cluster.serverPid());
      case STOPPED_EXECUTOR -> stopping(driver.ask(Step.HOLD_EXECUTOR.name(), Long.class));
    };
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

  /** Returns the result of a job while a server is struck, with the seconds that it took longer. */
  private Reduced lost(Blow blow, Shuffle shuffle, int round)
      throws IOException, InterruptedException {
    Path own = directory.resolve("%s-%s-%d".formatted(blow.label(), shuffle.label(), round));
    try (NodeCluster cluster = NodeCluster.start(own, shuffle, EXECUTORS)) {
      Map<String, String> conf = new HashMap<>(cluster.conf(EXECUTORS, 1));
      conf.putAll(blow == Blow.STOPPED_EXECUTOR ? EXECUTORS_SERVE : Map.of());
      try (AnsweringProcess driver =
          new DriverProcess(own.resolve("driver"))
              .start(NodeJob.class, shuffle, new ClusterConf(1, 1, EXECUTOR_MB, "auto", conf))) {
        reduce(driver);
        FailableRunnable<Exception> strike = prepare(blow, cluster, driver);
        Reduced before = reduce(driver);
        FutureTask<Void> striking =
            new FutureTask<>(
                () -> {
                  Thread.sleep(STRIKE_MS);
                  strike.run();
                  return null;
                });
        Thread.startVirtualThread(striking);
        Reduced struck = reduce(driver);
        striking.get();
        double lost = struck.seconds() - before.seconds();
        return new Reduced(struck.answer(), lost, struck.provider());
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
