package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import java.util.Random;

/** Nothing: what the other faults' times and answers are compared with. */
final class NoFault extends Fault {
  NoFault() {
    super("none", "nothing goes wrong", Moment.BEFORE);
  }

  @Override
  public void strike(Cluster cluster, Random random) {}
}
