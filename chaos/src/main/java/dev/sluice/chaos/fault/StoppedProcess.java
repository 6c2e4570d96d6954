// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.chaos.fault.Fault.Moment;
import dev.sluice.testkit.ExecutorProcess;
import java.io.IOException;
import java.util.Random;
import org.apache.commons.lang3.function.FailableBiFunction;

/**
 * Stops a process by SIGSTOP: its connections stay open, but it answers nothing. The driver's main
 * thread stops it and lets it continue, by healing after the fault's time.
 */
final class StoppedProcess implements FaultAction {
  private final FailableBiFunction<Cluster, Random, ExecutorProcess, IOException> choice;
  private ExecutorProcess victim;

  /**
   * @param choice chooses the process
   */
  StoppedProcess(FailableBiFunction<Cluster, Random, ExecutorProcess, IOException> choice) {
    this.choice = choice;
  }

  /** Returns the fault of an executor that is stopped for some seconds. */
  static Fault of(int seconds) {
    // Spark may declare an executor lost if it is silent for two minutes.
    boolean mayBeLost = seconds > 60;
    return new Fault(
            "stopped-" + seconds + "s",
            "SIGSTOP of an executor for " + seconds + " s",
            Moment.REDUCE,
            new StoppedProcess(Cluster::any))
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
