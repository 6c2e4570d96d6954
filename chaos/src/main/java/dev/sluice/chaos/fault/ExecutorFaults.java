// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.chaos.fault.FaultAction.Evidence;
import dev.sluice.chaos.inject.Injection;
import dev.sluice.testkit.Commands;
import dev.sluice.testkit.ExecutorProcess;
import dev.sluice.testkit.NodeProcess;
import dev.sluice.testkit.ReadLimit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BiConsumer;
import org.apache.commons.lang3.function.FailableBiFunction;
import org.apache.commons.lang3.function.FailableRunnable;
import org.jspecify.annotations.Nullable;

/**
 * Ways to strike executors and the node daemon that they use: injections, signals, killed tasks, a
 * removed shuffle, a slow disk, and resources that the kernel limits. {@link Faults} lists them;
 * {@code FaultedJob} strikes and heals on the driver's main thread.
 */
final class ExecutorFaults {
  /** Time for an executor that leaves to end; it may migrate map outputs first. */
  private static final long END_MS = 30_000;

  private ExecutorFaults() {}

  /** A strike that returns how to heal it. */
  @FunctionalInterface
  private interface Strike {
    FailableRunnable<Exception> on(Cluster cluster, Random random) throws Exception;
  }

  /** Heals as its strike has said, until that succeeds once. */
  private static final class Healed implements FaultAction {
    private final Strike strike;
    private @Nullable FailableRunnable<Exception> healing;

    Healed(Strike strike) {
      this.strike = strike;
    }

    @Override
    public void strike(Cluster cluster, Random random) throws Exception {
      healing = strike.on(cluster, random);
    }

    @Override
    public void heal(Cluster cluster) throws Exception {
      if (healing != null) {
        healing.run();
        healing = null;
      }
    }
  }

  /**
   * Leaves an executor hardly any descriptors for further files and sockets, until it is healed.
   * RLIMIT_NOFILE bounds the numbers of new descriptors. The limit becomes the present count plus
   * one, so at least one number is free. Open descriptors stay.
   */
  static FaultAction fewDescriptors() {
    return new Healed(
        (cluster, random) -> {
          ExecutorProcess victim = cluster.any(random);
          int limit = victim.descriptorLimit();
          victim.limitDescriptors(victim.descriptors().size() + 1);
          return () -> victim.limitDescriptors(limit);
        });
  }

  /**
   * Stops an executor or the node daemon by SIGSTOP until it is healed: its connections stay open,
   * but it answers nothing. {@link AtEvent} uses it for the stock shuffle.
   *
   * @param choice chooses the process
   */
  static FaultAction stopped(
      FailableBiFunction<Cluster, Random, ExecutorProcess, IOException> choice) {
    return new Healed(
        (cluster, random) -> {
          ExecutorProcess victim = choice.apply(cluster, random);
          victim.signal("STOP");
          return () -> victim.signal("CONT");
        });
  }

  /**
   * Sends an executor away while reduce tasks read. Healing waits for its end, so that the next run
   * does not lose it.
   *
   * @param sending asks Spark to decommission or remove it
   */
  static FaultAction leaving(BiConsumer<Cluster, ExecutorProcess> sending) {
    return new Healed(
        (cluster, random) -> {
          ExecutorProcess victim = cluster.any(random);
          sending.accept(cluster, victim);
          return () -> victim.awaitEnd(END_MS);
        });
  }

  /** Kills the node daemon; healing starts it again. */
  static FaultAction nodeKilled() {
    return new Healed(
        (cluster, _) -> {
          cluster.node().kill();
          return cluster.node()::start;
        });
  }

  /** Removes the node daemon's socket; executors that have registered stay. */
  static FaultAction nodeSocketGone() {
    return new Healed(
        (cluster, _) -> {
          NodeProcess node = cluster.node();
          Files.deleteIfExists(node.socket());
          return () -> {
            node.kill();
            node.start();
          };
        });
  }

  /**
   * Takes all mappings of an executor (vm.max_map_count), so that neither files nor thread stacks
   * can be mapped. The executor may end by that. Executors of the stock shuffle get no order, so
   * they are not struck.
   */
  static final class Mappings implements FaultAction {
    /** Number of map outputs that could not be mapped. */
    private static final Evidence STAGED = Evidence.of("registry.staged-outputs");

    @Override
    public List<Evidence> evidence() {
      return List.of(cluster -> STAGED.in(cluster) + Evidence.LOST_EXECUTORS.in(cluster));
    }

    @Override
    public void prepare(Cluster cluster, Random random) {
      cluster.warmUp(); // A provider that cannot start later would fail for good.
    }

    @Override
    public void strike(Cluster cluster, Random random) throws Exception {
      cluster.order(
          Map.of(Injection.MAPPINGS_TAKEN, 1.0), random.nextLong(), cluster.any(random).pid());
    }
  }

  /**
   * A fault that executors inject into themselves, or that their settings cause from the start.
   * Only Sluice can notice it, and no stage may be repeated. The driver's main thread orders the
   * injections; the agents in the executors carry them out.
   *
   * @param rates rates of the injections; empty for a fault by settings
   */
  record InjectedFault(Map<Injection, Double> rates, List<Evidence> evidence)
      implements FaultAction {
    /**
     * @param rates rate of the fault's injection, then of those that create opportunities for it
     */
    static InjectedFault of(Map<Injection, Double> rates) {
      Injection first = rates.keySet().iterator().next();
      // Connections to a port without a listener fail at the side that connects.
      Evidence evidence =
          first == Injection.CONTROL_REFUSED
              ? Evidence.of("transfer.connect-failures")
              : Evidence.of(first);
      return new InjectedFault(rates, List.of(evidence));
    }

    @Override
    public void strike(Cluster cluster, Random random) throws Exception {
      cluster.order(rates, random.nextLong(), 0);
    }
  }

  /**
   * Kills running reduce tasks, with an interrupt, ten times within a second. The driver's main
   * thread does so; there is nothing to heal, as Spark starts killed tasks again.
   */
  static final class TasksKilled implements FaultAction {
    private static final int TIMES = 10;
    private static final long PERIOD_MS = 60;

    private int killed;

    @Override
    public void strike(Cluster cluster, Random random) throws InterruptedException {
      killed = 0;
      for (int i = 0; i < TIMES; i++) {
        List<Long> running = cluster.stages().runningTasks();
        if (!running.isEmpty()) {
          cluster.kill(running.get(random.nextInt(running.size())));
          killed++;
        }
        Thread.sleep(PERIOD_MS);
      }
    }

    @Override
    public boolean hasStruck(Cluster cluster, boolean inTime) {
      return killed > 0;
    }
  }

  /**
   * Calls unregisterShuffle on every executor while reduce tasks READ, as when SQL removes the
   * files of a query that another task still reads. The map outputs come back under the same
   * shuffle id. The agents unregister. With the stock shuffle the driver's main thread deletes the
   * files at the strike. With both shuffles it deletes leftovers when no task runs.
   */
  static final class ShuffleRemoved implements FaultAction {
    @Override
    public List<Evidence> evidence() {
      return List.of(Evidence.of(Injection.UNREGISTERED));
    }

    @Override
    public void strike(Cluster cluster, Random random) throws Exception {
      cluster.order(Map.of(Injection.UNREGISTERED, 1.0), random.nextLong(), 0);
      if (!cluster.isSluice()) {
        deleteFiles(cluster);
      }
    }

    /** Deletes files that map tasks wrote during the removal; Spark does not know them. */
    @Override
    public void settled(Cluster cluster) throws Exception {
      deleteFiles(cluster);
    }

    private static void deleteFiles(Cluster cluster) throws IOException {
      for (Path file : cluster.shuffleFiles("")) {
        Files.deleteIfExists(file);
      }
    }
  }

  /**
   * Limits the disk reads of one executor, and drops all map outputs from the page cache. The
   * driver's main thread strikes and heals; {@link AtEvent.Copying} also strikes the victim at an
   * event.
   */
  static final class SlowDisk implements FaultAction {
    /** The rate that the descriptions in faults.txt name. */
    private static final long BYTES_A_SECOND = 1_000_000;

    private long victim;
    private boolean dropped;

    /** Returns the victim's process id. */
    long victim() {
      return victim;
    }

    @Override
    public @Nullable String unavailable(String provider) {
      return ReadLimit.unavailable();
    }

    @Override
    public void strike(Cluster cluster, Random random) throws IOException {
      victim = cluster.any(random).pid();
      ReadLimit.set(victim, Path.of(cluster.setting("spark.local.dir")), BYTES_A_SECOND);
      List<Path> outputs = cluster.shuffleFiles(".data");
      for (Path file : outputs) {
        Commands.dropFromCache(file);
      }
      dropped = !outputs.isEmpty();
    }

    @Override
    public boolean hasStruck(Cluster cluster, boolean inTime) {
      return inTime && dropped;
    }

    @Override
    public void heal(Cluster cluster) throws IOException {
      ReadLimit.lift(victim);
    }
  }
}
