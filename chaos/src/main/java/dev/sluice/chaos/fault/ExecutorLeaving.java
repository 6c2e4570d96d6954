// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.testkit.ExecutorProcess;
import dev.sluice.testkit.NodeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.ExternalShuffleService;
import org.apache.spark.internal.config.package$;
import org.jspecify.annotations.Nullable;
import scala.Option;

/**
 * Sends an executor away while reduce tasks read, by decommissioning or removing it. The driver's
 * main thread asks Spark for it.
 */
final class ExecutorLeaving implements FaultAction {
  /** Time for the executor to end; it may migrate map outputs first. */
  private static final long END_MS = 30_000;

  private final BiConsumer<Cluster, ExecutorProcess> sending;
  private @Nullable ExecutorProcess leaving;

  ExecutorLeaving(BiConsumer<Cluster, ExecutorProcess> sending) {
    this.sending = sending;
  }

  @Override
  public void strike(Cluster cluster, Random random) {
    ExecutorProcess chosen = cluster.any(random);
    leaving = chosen;
    sending.accept(cluster, chosen);
  }

  /** Waits for the end of the executor, so that the next run does not lose it. */
  @Override
  public void heal(Cluster cluster) throws InterruptedException {
    if (leaving != null) {
      leaving.awaitEnd(END_MS);
    }
  }

  /** Settings to migrate map outputs to storage that all executors can read. */
  static Map<String, String> fallbackStorage(Path directory) throws IOException {
    Path storage = Files.createDirectories(directory.resolve("fallback"));
    return Map.of("spark.storage.decommission.fallbackStorage.path", storage.toUri() + "/");
  }

  /**
   * A shuffle service that serves map outputs, with dynamic allocation. It runs in the command's
   * process, one for each cluster directory, until {@code ChaosDriver} ends the setup.
   */
  static final class ShuffleService implements Fault.Setup {
    private final Map<Path, ExternalShuffleService> services = new ConcurrentHashMap<>();

    /** Starts the service, since a local cluster's Workers have none. */
    @Override
    public Map<String, String> settings(Path directory) throws IOException {
      String port = Integer.toString(NodeProcess.freePort());
      SparkConf conf =
          new SparkConf()
              .set("spark.shuffle.service.enabled", "true")
              .set("spark.shuffle.service.port", port)
              .set("spark.local.dir", directory.toString());
      ExternalShuffleService started =
          new ExternalShuffleService(
              conf, new SecurityManager(conf, Option.empty(), package$.MODULE$.AUTH_SECRET_FILE()));
      started.start();
      services.put(directory, started);
      return Map.of("spark.shuffle.service.port", port);
    }

    @Override
    public void end(Path directory) {
      ExternalShuffleService started = services.remove(directory);
      if (started != null) {
        started.stop();
      }
    }
  }
}
