package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.inject.Injection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * unregisterShuffle on every executor while reduce tasks READ, as when SQL removes the files of a
 * query that somebody still reads: what was there comes back under the same shuffle id. The stock
 * shuffle loses the same files.
 */
final class ShuffleRemoved implements Blow {
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

  /** Of a map task that was writing when its shuffle was removed Spark does not know the files. */
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
