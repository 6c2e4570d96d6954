package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.Cluster;
import dev.sluice.benchmarks.chaos.ExecutorProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/** An executor is decommissioned while reduce tasks read: its map outputs move elsewhere. */
final class Decommission extends SharedFault {
  private static final long END_MS = 30_000;

  private final boolean fallbackStorage;
  private ExecutorProcess leaving;

  Decommission(boolean fallbackStorage) {
    super(
        fallbackStorage ? "decommission-fallback" : "decommission",
        "an executor is decommissioned"
            + (fallbackStorage ? ", with fallback storage" : ", its map outputs migrate"),
        Moment.REDUCE,
        4,
        1);
    this.fallbackStorage = fallbackStorage;
  }

  @Override
  public String cluster() {
    return name();
  }

  @Override
  public Map<String, String> settings(Path directory) throws IOException {
    Map<String, String> settings =
        new HashMap<>(
            Map.of(
                "spark.decommission.enabled", "true",
                "spark.storage.decommission.enabled", "true",
                "spark.storage.decommission.shuffleBlocks.enabled", "true",
                "spark.storage.decommission.replicationReattemptInterval", "1s"));
    if (fallbackStorage) {
      Path storage = Files.createDirectories(directory.resolve("fallback"));
      settings.put("spark.storage.decommission.fallbackStorage.path", storage.toUri() + "/");
      settings.put("spark.storage.decommission.fallbackStorage.cleanUp", "true");
    }
    return settings;
  }

  @Override
  public void strike(Cluster cluster, Random random) {
    leaving = cluster.any(random);
    cluster.decommission(leaving);
  }

  /** Waits until it has gone, so that the next run does not lose it. */
  @Override
  public void heal(Cluster cluster) throws InterruptedException {
    if (leaving != null) {
      leaving.awaitEnd(END_MS);
    }
  }
}
