package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.Cluster;
import java.util.Random;

/**
 * unregisterShuffle on every executor while reduce tasks READ, as when SQL removes the files of a
 * query that somebody still reads: what was there comes back under the same shuffle id.
 */
final class ShuffleRemoved extends SharedFault {
  ShuffleRemoved() {
    super(
        "shuffle-removed", "unregisterShuffle on all executors while they READ", Moment.REDUCE, 6);
  }

  @Override
  public void strike(Cluster cluster, Random random) {
    cluster.removeFromExecutors(cluster.stages().shuffles());
  }
}
