// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.chaos.inject.Injection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Calls unregisterShuffle on every executor while reduce tasks READ, as when SQL removes the files
 * of a query that another task still reads. The map outputs come back under the same shuffle id.
 * The stock shuffle loses the same files. The agents unregister; the driver's main thread deletes
 * files, with stock at the strike and with both when no task runs.
 */
final class ShuffleRemoved implements FaultAction {
  @Override
  public List<Evidence> evidence() {
    return List.of(Evidence.of(Injection.UNREGISTERED));
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    cluster.order(Map.of(Injection.UNREGISTERED, 1.0), random.nextLong(), 0);
    if (!cluster.isSluice()) {
      deleteFiles(cluster);
    }
  }

  /** Deletes files that map tasks wrote during the removal; Spark does not know them. */
  @Override
  public void settled(Cluster cluster) throws Exception {
    deleteFiles(cluster);
  }

  private static void deleteFiles(Cluster cluster) throws IOException {
    for (Path file : cluster.shuffleFiles("")) {
      Files.deleteIfExists(file);
    }
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    cluster.orderNothing();
  }
}
