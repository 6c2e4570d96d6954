package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.Cluster;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Something that goes wrong while a job runs. A new one is a class of its own, or a line of {@link
 * InjectedFault}, and a line in {@link Faults#ALL}. Stateless but for what {@link #strike} leaves
 * to {@link #heal}: one object a driver process, used by one thread.
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

  /** How long after the stage has begun, in milliseconds. */
  public int delayMs(Random random) {
    return random.nextInt(DELAY_MS);
  }

  /** Stages that may be run again for it; none for what only RDMA can notice. */
  public int stageRetries() {
    return 0;
  }

  /** Whether it can happen to the stock shuffle as well, whose time then is the measure. */
  public boolean happensToStock() {
    return false;
  }

  /** Whether executors do it to themselves, and count how often. */
  public boolean isInjected() {
    return false;
  }

  /** Why it cannot be tried here; null where it can. */
  public String unavailable() {
    return null;
  }

  /**
   * What the cluster has to be started with.
   *
   * @param directory of this driver process alone
   */
  public Map<String, String> settings(Path directory) throws Exception {
    return Map.of();
  }

  /** As Spark's {@code local-cluster[executors, cores, memory]}. */
  public String master() {
    return "local-cluster[3,2,1024]";
  }

  /** Names of the workloads that it wants; empty for any. */
  public List<String> workloads() {
    return List.of();
  }

  /** Before the job begins, whatever the moment. */
  public void prepare(Cluster cluster, Random random) throws Exception {}

  /** Lets it happen. */
  public abstract void strike(Cluster cluster, Random random) throws Exception;

  /** Ends it, if that has not ended by itself; called whatever came of the job. */
  public void heal(Cluster cluster) throws Exception {}

  /** Takes back what {@link #settings} did; called once the cluster has ended. */
  public void end() throws IOException {}
}
