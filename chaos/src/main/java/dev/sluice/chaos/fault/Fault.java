// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.fault.FaultAction.Evidence;
import dev.sluice.chaos.workload.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A fault that strikes while a job runs: its {@link FaultAction}, its moment, its allowed cost, and
 * the {@link Setup} of the cluster that it needs. Each is defined in {@link Faults}, where all
 * values are set that differ from the defaults; it is immutable from then on. The command asks for
 * cost and cluster and runs the setup; the driver, which has the same list, runs the action. {@link
 * #staged} copies the values one by one: a new one belongs there, too.
 */
public final class Fault {
  /** Time at which a fault strikes. */
  public enum Moment {
    /** Before the job begins. */
    BEFORE,
    /** While map tasks write. */
    MAP,
    /** While reduce tasks read. */
    REDUCE
  }

  /**
   * Cost that a fault may have for a job; none if only RDMA can notice it.
   *
   * @param happensToStock true if the stock shuffle can suffer it as well
   * @param stageRetries stages that may be run again, for each shuffle of the workload
   * @param lostExecutors executors that may be lost
   */
  public record Cost(boolean happensToStock, int stageRetries, int lostExecutors) {
    private static final Cost NONE = new Cost(false, 0, 0);
  }

  /** Default delay limit. A reduce stage of the workloads takes about twice as long. */
  private static final int DELAY_MS = 400;

  private static final Evidence STAGED_BYTES = Evidence.of("registry.staged-bytes");

  private static final Map<String, String> ALL_STAGED =
      Map.of(
          "spark.shuffle.rdma.registration.maxBytes", "0",
          "spark.shuffle.rdma.staging.maxBytes", "4m");

  private final String name;
  private final String what;
  private final Moment moment;
  private final FaultAction action;
  private List<Evidence> evidence;
  private List<Fault> choices = List.of();
  private int delayMs = DELAY_MS;
  private long lastsMs = Long.MAX_VALUE;
  private Cost cost = Cost.NONE;
  private String cluster = "shared";
  private Setup setup = _ -> Map.of();
  private Map<String, String> settings = Map.of();
  private boolean spoilsCluster;
  private boolean onSoftOnly;
  private List<String> workloads = List.of();
  private Predicate<Workload> allows = _ -> true;

  Fault(String name, String what, Moment moment, FaultAction action) {
    this.name = name;
    this.what = what;
    this.moment = moment;
    this.action = action;
    evidence = action.evidence();
  }

  /** Returns a fault that is another one at each run, on executors that stay for all runs. */
  static Fault mixed(List<Fault> faults) {
    Fault mixed =
        new Fault(
            "mixed",
            "another random fault in each run",
            Moment.BEFORE,
            (_, _) -> {
              throw new IllegalStateException("fault mixed strikes by another fault, not itself");
            });
    mixed.choices = faults;
    return mixed.alone();
  }

  /** Sets the time, from the beginning of the stage, within which the fault strikes. */
  Fault within(int ms) {
    delayMs = ms;
    return this;
  }

  /** Sets the time after which the fault is healed if the job has not ended. */
  Fault lasting(long ms) {
    lastsMs = ms;
    return this;
  }

  /**
   * Marks a fault that the stock shuffle suffers as well. Stock's time under it is then the
   * measure, and stages may be run again.
   *
   * @param retries stages that may be run again, for each shuffle
   * @param lost executors that may be lost
   */
  Fault shared(int retries, int lost) {
    cost = new Cost(true, retries, lost);
    return this;
  }

  /** Uses a cluster that is shared by the faults that name the same one. */
  Fault on(String clusterName, Setup clusterSetup) {
    cluster = clusterName;
    setup = clusterSetup;
    return this;
  }

  /** Uses a separate cluster with this setup. */
  Fault alone(Setup clusterSetup) {
    return on(name, clusterSetup);
  }

  /** Uses a separate cluster without further setup. */
  Fault alone() {
    return on(name, setup);
  }

  /** Uses a new cluster for each run: a struck cluster cannot show the fault again for minutes. */
  Fault spoiling() {
    spoilsCluster = true;
    return alone();
  }

  /** Restricts the fault to the software provider. */
  Fault onSoft() {
    onSoftOnly = true;
    return this;
  }

  Fault wanting(String... names) {
    workloads = List.of(names);
    return this;
  }

  /** Restricts the fault to workloads in which it does no more than it should. */
  Fault allowing(Predicate<Workload> which) {
    allows = which;
    return this;
  }

  /**
   * Returns the same fault for a cluster that registers nothing and stages all blocks, in the least
   * staging memory possible.
   */
  Fault staged() {
    Fault staged =
        new Fault("staged-" + name, "all blocks staged: " + what, moment, action)
            .within(delayMs)
            .lasting(lastsMs)
            .on("staged-" + cluster, setup)
            .allowing(this::allows);
    staged.settings = ALL_STAGED;
    staged.evidence = Stream.concat(evidence.stream(), Stream.of(STAGED_BYTES)).toList();
    staged.cost = cost;
    staged.spoilsCluster = spoilsCluster;
    return staged;
  }

  /** Returns the name for {@code --faults}. */
  public String name() {
    return name;
  }

  /** Returns a description in a few words. */
  public String what() {
    return what;
  }

  public Moment moment() {
    return moment;
  }

  public FaultAction action() {
    return action;
  }

  /** Returns the numbers that all have to grow when the fault happens. */
  public List<Evidence> evidence() {
    return evidence;
  }

  /**
   * Returns why the fault cannot be tried here; null if it can.
   *
   * @param provider provider by which Sluice READs
   */
  public @Nullable String unavailable(String provider) {
    return onSoftOnly && !provider.equals("soft")
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
    return random.nextInt(delayMs);
  }

  /** Returns the milliseconds after which it is healed if the job has not ended. */
  public long lastsMs() {
    return lastsMs;
  }

  public Cost cost() {
    return cost;
  }

  /** Returns the name of its cluster; faults with the same name share it. */
  public String cluster() {
    return cluster;
  }

  /** Sets up its cluster, as {@link Setup#settings} does. */
  public Map<String, String> setUp(Path directory) throws Exception {
    Map<String, String> all = new HashMap<>(setup.settings(directory));
    all.putAll(settings);
    return all;
  }

  /** Takes the setup back, as {@link Setup#end} does. */
  public void end(Path directory) throws IOException {
    setup.end(directory);
  }

  /** Returns true if a cluster that it has struck cannot show the same fault again for minutes. */
  public boolean spoilsCluster() {
    return spoilsCluster;
  }

  /** Returns true if its executors live long enough for C2. */
  public boolean isLong() {
    return !choices.isEmpty();
  }

  /** Returns the names of its workloads; empty for any workload. */
  public List<String> workloads() {
    return workloads;
  }

  /** Returns true if it can strike a workload without doing more than it should. */
  public boolean allows(Workload workload) {
    return (workloads.isEmpty() || workloads.contains(workload.name())) && allows.test(workload);
  }

  /** Settings with which a cluster starts. The default is three executors with two cores each. */
  @FunctionalInterface
  public interface Setup {
    /**
     * @param directory directory of this driver process
     */
    Map<String, String> settings(Path directory) throws Exception;

    /** Takes back {@link #settings}, when the cluster has ended or this process ends. */
    default void end(Path directory) throws IOException {}
  }
}
