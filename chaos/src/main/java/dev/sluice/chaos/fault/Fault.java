// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.fault.FaultAction.Evidence;
import dev.sluice.chaos.workload.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A fault that strikes while a job runs, as a line of {@code faults.txt} defines it. The command
 * asks for cost and cluster and runs the setup; the driver, which has the same list, runs the
 * action. Immutable, apart from the action.
 *
 * @param name name for {@code --faults}
 * @param what description in a few words
 * @param evidence numbers that all have to grow when the fault happens
 * @param terms further terms of the line: the text after the equals sign, by the word before it
 * @param setup setup of its cluster
 * @param settings settings of its cluster in addition to those of the setup
 * @param choices faults of which a random one strikes in each run, on the same executors; empty if
 *     this fault itself strikes
 */
public record Fault(
    String name,
    String what,
    Moment moment,
    FaultAction action,
    List<Evidence> evidence,
    Map<String, String> terms,
    Setup setup,
    Map<String, String> settings,
    List<Fault> choices) {
  /** Time at which a fault strikes. */
  public enum Moment {
    /** Before the job begins. */
    BEFORE,
    /** While map tasks write. */
    MAP,
    /** While reduce tasks read. */
    REDUCE
  }

  /** Default delay limit. A reduce stage of the workloads takes about twice as long. */
  private static final int DELAY_MS = 400;

  private static final Evidence STAGED_BYTES = Evidence.of("registry.staged-bytes");
  private static final Map<String, String> ALL_STAGED =
      Map.of(
          "spark.shuffle.rdma.registration.maxBytes", "0",
          "spark.shuffle.rdma.staging.maxBytes", "4m");

  /**
   * Returns the same fault for a cluster that registers nothing and stages all blocks, in the least
   * staging memory possible.
   */
  Fault staged() {
    List<Evidence> all = new ArrayList<>(evidence);
    all.add(STAGED_BYTES);
    return new Fault(
        "staged-" + name,
        "all blocks staged: " + what,
        moment,
        action,
        all,
        with(terms, Map.of("cluster", "staged-" + cluster())),
        setup,
        with(settings, ALL_STAGED),
        choices);
  }

  private static Map<String, String> with(Map<String, String> some, Map<String, String> more) {
    Map<String, String> all = new HashMap<>(some);
    all.putAll(more);
    return all;
  }

  private Optional<String> term(String name) {
    return Optional.ofNullable(terms.get(name));
  }

  /**
   * Returns why the fault cannot be tried here; null if it can.
   *
   * @param provider provider by which Sluice READs
   */
  public @Nullable String unavailable(String provider) {
    return term("soft").isPresent() && !provider.equals("soft")
        ? "it needs --provider soft"
        : action.unavailable(provider);
  }

  /** Returns the fault for a run of a workload: this one, or one of its choices. */
  public Fault chosen(Workload workload, Random random) {
    List<Fault> allowed = choices.stream().filter(fault -> fault.allows(workload)).toList();
    return allowed.isEmpty() ? this : allowed.get(random.nextInt(allowed.size()));
  }

  /** Returns a random delay after the beginning of the stage, in milliseconds. */
  public int delayMs(Random random) {
    return random.nextInt(term("within").map(Integer::parseInt).orElse(DELAY_MS));
  }

  /** Returns the milliseconds after which it is healed if the job has not ended. */
  public long lastsMs() {
    return term("lasts").map(Long::parseLong).orElse(Long.MAX_VALUE);
  }

  /** Returns true if the stock shuffle can suffer it as well; otherwise only RDMA notices it. */
  public boolean happensToStock() {
    return term("shared").isPresent();
  }

  /** Returns how many stages may be run again, for each shuffle of the workload. */
  public int stageRetries() {
    return cost(0);
  }

  /** Returns how many executors may be lost. */
  public int lostExecutors() {
    return cost(1);
  }

  private int cost(int index) {
    return term("shared").map(cost -> Integer.parseInt(cost.split(",")[index])).orElse(0);
  }

  /** Returns the name of its cluster; faults with the same name share it. */
  public String cluster() {
    return term("alone").isPresent() || spoilsCluster() ? name : term("cluster").orElse("shared");
  }

  /** Sets up its cluster, as {@link Setup#settings} does. */
  public Map<String, String> setUp(Path directory) throws Exception {
    return with(setup.settings(directory), settings);
  }

  /** Returns true if a cluster that it has struck cannot show the same fault again for minutes. */
  public boolean spoilsCluster() {
    return term("spoils").isPresent();
  }

  /** Returns true if its executors run so many jobs that compiling by C2 pays. */
  public boolean isLong() {
    return !choices.isEmpty();
  }

  /** Returns true if it can strike a workload without doing more than it should. */
  public boolean allows(Workload workload) {
    return term("only").map(only -> isIn(only, workload)).orElse(true)
        && !term("not").map(not -> isIn(not, workload)).orElse(false);
  }

  private static boolean isIn(String names, Workload workload) {
    return Arrays.asList(names.split(",")).contains(workload.name());
  }

  /**
   * Settings with which a cluster starts, and the services that they need. {@code ChaosDriver}
   * calls {@link #settings} in the command, before it starts a driver process, and {@link #end}
   * when that has ended or in a shutdown hook.
   */
  @FunctionalInterface
  public interface Setup {
    /**
     * @param directory directory of this driver process
     */
    Map<String, String> settings(Path directory) throws Exception;

    /** Takes back {@link #settings}; not called if that failed. */
    default void end(Path directory) throws IOException {}
  }
}
