package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.cluster.ExecutorProcess;
import dev.sluice.benchmarks.chaos.fault.Fault.Moment;
import java.io.IOException;
import java.util.Random;
import org.apache.commons.lang3.function.FailableBiFunction;

/** SIGSTOP of a process: its connections stay, and nobody answers. */
final class Stopped implements Blow {
  private final FailableBiFunction<Cluster, Random, ExecutorProcess, IOException> choice;
  private ExecutorProcess victim;

  /**
   * @param choice which one
   */
  Stopped(FailableBiFunction<Cluster, Random, ExecutorProcess, IOException> choice) {
    this.choice = choice;
  }

  /** An executor, for some seconds. */
  static Fault of(int seconds) {
    // Spark itself may take an executor for lost that is silent for two minutes.
    boolean mayBeLost = seconds > 60;
    return new Fault(
            "stopped-" + seconds + "s",
            "SIGSTOP of an executor for " + seconds + " s",
            Moment.REDUCE,
            new Stopped(Cluster::any))
        .shared(mayBeLost ? Faults.STAGE_RETRIES : 0, mayBeLost ? 1 : 0)
        .lasting(seconds * 1_000L)
        .wanting("group-by", "skewed-join", "small-blocks");
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
