package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.cluster.ExecutorProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** An executor is decommissioned: its map outputs move elsewhere. */
final class Decommission extends ExecutorLeaving {
  private final boolean fallbackStorage;

  Decommission(boolean fallbackStorage) {
    super(
        fallbackStorage ? "decommission-fallback" : "decommission",
        "an executor is decommissioned"
            + (fallbackStorage ? ", with fallback storage" : ", its map outputs migrate"),
        1);
    this.fallbackStorage = fallbackStorage;
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
  void send(ExecutorProcess executor, Cluster cluster) {
    cluster.decommission(executor);
  }
}
