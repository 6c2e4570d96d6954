package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.workload.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Something that goes wrong while a job runs: the {@link Blow}, when it strikes, what it may cost,
 * and the {@link Setup} of the cluster that it needs. A new one is a line in {@link Faults}, where
 * all is set that is not as it is for most; immutable from then on.
 */
public final class Fault {
  /** When it strikes. */
  public enum Moment {
    /** Before the job begins. */
    BEFORE,
    /** While map tasks write. */
    MAP,
    /** While reduce tasks read. */
    REDUCE
  }

  /**
   * What it may cost a job; nothing where only RDMA can notice it.
   *
   * @param happensToStock whether the stock shuffle can suffer it as well
   * @param stageRetries stages that may be run again for it, for each shuffle of the workload
   * @param lostExecutors executors that may end by it
   */
  public record Cost(boolean happensToStock, int stageRetries, int lostExecutors) {
    private static final Cost NONE = new Cost(false, 0, 0);
  }

  /** A reduce stage of the workloads takes about twice as long. */
  private static final int DELAY_MS = 400;

  private static final Evidence STAGED_BYTES = Evidence.of("registry.staged-bytes");

  private static final Map<String, String> ALL_STAGED =
      Map.of(
          "spark.shuffle.rdma.registration.maxBytes", "0",
          "spark.shuffle.rdma.staging.maxBytes", "4m");

  private final String name;
  private final String what;
  private final Moment moment;
  private final Blow blow;
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

  Fault(String name, String what, Moment moment, Blow blow) {
    this.name = name;
    this.what = what;
    this.moment = moment;
    this.blow = blow;
    evidence = blow.evidence();
  }

  /** One of the others at each run, on executors that stay: what a long application sees. */
  static Fault mixed(List<Fault> faults) {
    Fault mixed =
        new Fault(
            "mixed",
            "another one of the others at each run",
            Moment.BEFORE,
            (_, _) -> {
              throw new IllegalStateException("one of the others strikes");
            });
    mixed.choices = faults;
    return mixed.alone();
  }

  /** It strikes within so many milliseconds of the beginning of its stage. */
  Fault within(int ms) {
    delayMs = ms;
    return this;
  }

  /** It is healed after so many milliseconds, if the job has not ended by then. */
  Fault lasting(long ms) {
    lastsMs = ms;
    return this;
  }

  /**
   * The stock shuffle suffers it as well: its time then is the measure, and stages may be run
   * again.
   *
   * @param retries stages that may be run again for it, for each shuffle
   * @param lost executors that may end by it
   */
  Fault shared(int retries, int lost) {
    cost = new Cost(true, retries, lost);
    return this;
  }

  /** On a cluster with those faults that name the same one. */
  Fault on(String clusterName, Setup clusterSetup) {
    cluster = clusterName;
    setup = clusterSetup;
    return this;
  }

  /** On a cluster of its own. */
  Fault alone(Setup clusterSetup) {
    return on(name, clusterSetup);
  }

  /** The same, with nothing that it has to be started with. */
  Fault alone() {
    return on(name, setup);
  }

  /** The same, which shows nothing of it any more for minutes. */
  Fault spoiling() {
    spoilsCluster = true;
    return alone();
  }

  /** The software provider alone has it. */
  Fault onSoft() {
    onSoftOnly = true;
    return this;
  }

  Fault wanting(String... names) {
    workloads = List.of(names);
    return this;
  }

  /** It would do more to others than it should. */
  Fault allowing(Predicate<Workload> which) {
    allows = which;
    return this;
  }

  /**
   * The same where nothing is registered, and all is staged in the least memory that there is for
   * it.
   */
  Fault staged() {
    Fault staged =
        new Fault("staged-" + name, "all is staged: " + what, moment, blow)
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

  /** As in {@code --faults}. */
  public String name() {
    return name;
  }

  /** What goes wrong, in a few words. */
  public String what() {
    return what;
  }

  public Moment moment() {
    return moment;
  }

  public Blow blow() {
    return blow;
  }

  /** What has to grow, all of it, where it happens. */
  public List<Evidence> evidence() {
    return evidence;
  }

  /**
   * Why it cannot be tried here; null where it can.
   *
   * @param provider that Sluice READs by
   */
  public String unavailable(String provider) {
    return onSoftOnly && !provider.equals("soft")
        ? "only the software provider has it"
        : blow.unavailable(provider);
  }

  /** What strikes the next run of a workload: this one, unless it stands for several. */
  public Fault chosen(Workload workload, Random random) {
    List<Fault> allowed = choices.stream().filter(fault -> fault.allows(workload)).toList();
    return allowed.isEmpty() ? this : allowed.get(random.nextInt(allowed.size()));
  }

  /** How long after the stage has begun, in milliseconds. */
  public int delayMs(Random random) {
    return random.nextInt(delayMs);
  }

  /** After how long it is healed, in milliseconds, if the job has not ended by then. */
  public long lastsMs() {
    return lastsMs;
  }

  public Cost cost() {
    return cost;
  }

  /** Names the cluster that it needs: faults with the same one share it. */
  public String cluster() {
    return cluster;
  }

  /** Sets its cluster up, as {@link Setup#settings} does. */
  public Map<String, String> setUp(Path directory) throws Exception {
    Map<String, String> all = new HashMap<>(setup.settings(directory));
    all.putAll(settings);
    return all;
  }

  /** As {@link Setup#end} does. */
  public void end(Path directory) throws IOException {
    setup.end(directory);
  }

  /** Whether a cluster that it has struck shows nothing of it any more for minutes. */
  public boolean spoilsCluster() {
    return spoilsCluster;
  }

  /** Whether its executors live long enough for the second compiler. */
  public boolean isLong() {
    return !choices.isEmpty();
  }

  /** Names of the workloads that it wants; empty for any. */
  public List<String> workloads() {
    return workloads;
  }

  /** Whether it can strike a workload without doing more than it should. */
  public boolean allows(Workload workload) {
    return (workloads.isEmpty() || workloads.contains(workload.name())) && allows.test(workload);
  }

  /** What a cluster has to be started with; three executors with two cores each otherwise. */
  @FunctionalInterface
  public interface Setup {
    /**
     * @param directory of this driver process alone
     */
    Map<String, String> settings(Path directory) throws Exception;

    /** Takes back what {@link #settings} did; once the cluster has ended, or this process ends. */
    default void end(Path directory) throws IOException {}
  }
}
