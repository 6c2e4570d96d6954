// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.chaos.inject.Injection;
import dev.sluice.testkit.ExecutorProcess;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Exhausts a resource of an executor that the kernel limits. {@link Faults} lists both blows;
 * {@code FaultedJob} strikes and heals on the driver's main thread.
 */
final class ExhaustedResource {
  private ExhaustedResource() {}

  /**
   * Leaves an executor hardly any descriptors for further files and sockets. RLIMIT_NOFILE limits
   * the numbers of new descriptors and becomes the present count plus one: one number is free, or a
   * few if some above the limit are in use. Open descriptors stay; {@link #heal} restores the
   * limit.
   */
  static final class Descriptors implements FaultAction {
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
   * Takes all mappings of an executor (vm.max_map_count), so that neither files nor thread stacks
   * can be mapped. The executor may end by that, with any shuffle.
   */
  static final class Mappings implements FaultAction {
    /** Number of map outputs that could not be mapped. */
    private static final Evidence STAGED = Evidence.of("registry.staged-outputs");

    @Override
    public List<Evidence> evidence() {
      return List.of(cluster -> STAGED.in(cluster) + Evidence.LOST_EXECUTORS.in(cluster));
    }

    @Override
    public void prepare(Cluster cluster, Random random) {
      cluster.warmUp(); // A provider that was named and cannot start fails for good.
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
