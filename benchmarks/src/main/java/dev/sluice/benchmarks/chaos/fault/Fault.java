package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.workload.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Something that goes wrong while a job runs. A new one is a class of its own, or a line of {@link
 * InjectedFault}, and a line in {@link Faults#ALL}. Stateless but for what {@link #prepare} and
 * {@link #strike} leave to the others: one object a process, used by one thread.
 */
public abstract class Fault {
  /** When it strikes. */
  public enum Moment {
    /** Before the job begins. */
    BEFORE,
    /** While map tasks write. */
    MAP,
    /** While reduce tasks read. */
    REDUCE
  }

  /** A reduce stage of the workloads takes about twice as long. */
  private static final int DELAY_MS = 400;

  private final String name;
  private final String what;
  private final Moment moment;

  Fault(String name, String what, Moment moment) {
    this.name = name;
    this.what = what;
    this.moment = moment;
  }

  /** As in {@code --faults}. */
  public final String name() {
    return name;
  }

  /** What goes wrong, in a few words. */
  public final String what() {
    return what;
  }

  public final Moment moment() {
    return moment;
  }

  /** What strikes the next run of a workload: this one, unless it stands for several. */
  public Fault chosen(Workload workload, Random random) {
    return this;
  }

  /** How long after the stage has begun, in milliseconds. */
  public int delayMs(Random random) {
    return random.nextInt(DELAY_MS);
  }

  /** After how long it is healed, in milliseconds, if the job has not ended by then. */
  public long lastsMs() {
    return Long.MAX_VALUE;
  }

  /**
   * Stages that may be run again for it, for each shuffle of the workload; none for what only RDMA
   * can notice.
   */
  public int stageRetries() {
    return 0;
  }

  /** Executors that may end by it. */
  public int lostExecutors() {
    return 0;
  }

  /** Whether it can happen to the stock shuffle as well. */
  public boolean happensToStock() {
    return false;
  }

  /**
   * Why it cannot be tried here; null where it can.
   *
   * @param provider that Sluice READs by
   */
  public String unavailable(String provider) {
    return null;
  }

  /** Names the cluster that it needs: faults with the same one share it. */
  public String cluster() {
    return "shared";
  }

  /** Whether a cluster that it has struck shows nothing of it any more for minutes. */
  public boolean spoilsCluster() {
    return false;
  }

  /**
   * What that cluster has to be started with; three executors with two cores each otherwise.
   *
   * @param directory of this driver process alone
   */
  public Map<String, String> settings(Path directory) throws Exception {
    return Map.of();
  }

  /** Names of the workloads that it wants; empty for any. */
  public List<String> workloads() {
    return List.of();
  }

  /** Whether it can strike a workload without doing more than it should. */
  public boolean allows(Workload workload) {
    return workloads().isEmpty() || workloads().contains(workload.name());
  }

  /** Whether its executors live long enough for the second compiler. */
  public boolean isLong() {
    return false;
  }

  /** Before the job begins, whatever the moment. */
  public void prepare(Cluster cluster, Random random) throws Exception {}

  /** Lets it happen. */
  public abstract void strike(Cluster cluster, Random random) throws Exception;

  /**
   * Whether it did happen; asked after the job, before it is healed.
   *
   * @param inTime whether the job was not over when it struck
   */
  public boolean hasStruck(Cluster cluster, boolean inTime) throws Exception {
    return inTime;
  }

  /** When no task runs any more: takes away what Spark loses sight of by it in any shuffle. */
  public void settled(Cluster cluster) throws Exception {}

  /** Ends it, if that has not ended by itself; once or twice, whatever came of the job. */
  public void heal(Cluster cluster) throws Exception {}

  /** Takes back what {@link #settings} did; once the cluster has ended, or this process ends. */
  public void end(Path directory) throws IOException {}
}
