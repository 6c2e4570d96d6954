// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.chaos.fault.FaultAction.Evidence;
import dev.sluice.chaos.inject.Injection;
import dev.sluice.testkit.Commands;
import dev.sluice.testkit.ExecutorProcess;
import dev.sluice.testkit.ReadLimit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.commons.lang3.function.FailableBiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Ways to strike executors: injections, signals, killed tasks, a removed shuffle, a slow disk, and
 * resources that the kernel limits. {@link Faults} lists them; {@code FaultedJob} strikes and heals
 * on the driver's main thread.
 */
final class ExecutorFaults {
  private ExecutorFaults() {}

  /**
   * Leaves an executor hardly any descriptors for further files and sockets. RLIMIT_NOFILE bounds
   * the numbers of new descriptors. The limit becomes the present count plus one, so at least one
   * number is free. Open descriptors stay. {@link #heal} restores the limit.
   */
  static final class Descriptors implements FaultAction {
    private @Nullable ExecutorProcess victim;
    private int limit;

    @Override
    public void strike(Cluster cluster, Random random) throws Exception {
      victim = cluster.any(random);
      limit = victim.descriptorLimit();
      victim.limitDescriptors(victim.descriptors().size() + 1);
    }

    @Override
    public void heal(Cluster cluster) throws Exception {
      if (victim != null) {
        victim.limitDescriptors(limit);
        victim = null;
      }
    }
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
   * Stops an executor or the node daemon by SIGSTOP: its connections stay open, but it answers
   * nothing. The driver's main thread stops it, and continues it by healing after the fault's time.
   * {@link AtEvent} uses it for the stock shuffle.
   */
  static final class StoppedProcess implements FaultAction {
    private final FailableBiFunction<Cluster, Random, ExecutorProcess, IOException> choice;
    private @Nullable ExecutorProcess victim;

    /**
     * @param choice chooses the process
     */
    StoppedProcess(FailableBiFunction<Cluster, Random, ExecutorProcess, IOException> choice) {
      this.choice = choice;
    }

    @Override
    public void strike(Cluster cluster, Random random) throws IOException {
      victim = choice.apply(cluster, random);
      victim.signal("STOP");
    }

    @Override
    public void heal(Cluster cluster) throws IOException {
      if (victim != null) {
        victim.signal("CONT");
        victim = null;
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
