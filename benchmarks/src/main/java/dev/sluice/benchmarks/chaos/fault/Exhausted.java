package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.cluster.ExecutorProcess;
import dev.sluice.benchmarks.chaos.inject.Injection;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Something that the kernel bounds is used up in an executor. */
final class Exhausted {
  private Exhausted() {}

  /** It can open no file and no socket. */
  static final class Descriptors implements Blow {
    private ExecutorProcess victim;
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
   * It has no mappings left (vm.max_map_count): files cannot be mapped, nor stacks of threads. It
   * may end by that, with any shuffle.
   */
  static final class Mappings implements Blow {
    /** Map outputs that could not be mapped. */
    private static final Evidence STAGED = Evidence.of("registry.staged-outputs");

    @Override
    public List<Evidence> evidence() {
      return List.of(cluster -> STAGED.in(cluster) + Evidence.LOST_EXECUTORS.in(cluster));
    }

    @Override
    public void prepare(Cluster cluster, Random random) {
      cluster.warmUp(); // What cannot be started fails for good, where it was asked for by name.
    }

    @Override
    public void strike(Cluster cluster, Random random) throws Exception {
      cluster.order(
          Map.of(Injection.MAPPINGS_TAKEN, 1.0), random.nextLong(), cluster.any(random).pid());
    }

    @Override
    public void heal(Cluster cluster) throws Exception {
      cluster.orderNothing();
    }
  }
}
