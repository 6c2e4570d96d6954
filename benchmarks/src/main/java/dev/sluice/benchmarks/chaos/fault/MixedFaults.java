package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.workload.Workload;
import java.util.List;
import java.util.Random;

/** One of the others at each run, on executors that stay: what a long application sees. */
final class MixedFaults extends Fault {
  private final List<Fault> faults;

  /**
   * @param faults that need no settings of the cluster
   */
  MixedFaults(List<Fault> faults) {
    super("mixed", "another one of the others at each run", Moment.BEFORE);
    this.faults = faults;
  }

  @Override
  public Fault chosen(Workload workload, Random random) {
    List<Fault> allowed = faults.stream().filter(fault -> fault.allows(workload)).toList();
    return allowed.get(random.nextInt(allowed.size()));
  }

  @Override
  public String cluster() {
    return name();
  }

  @Override
  public boolean isLong() {
    return true;
  }

  @Override
  public void strike(Cluster cluster, Random random) {
    throw new IllegalStateException("one of the others strikes");
  }
}
