// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.testkit.NodeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.ExternalShuffleService;
import org.apache.spark.internal.config.package$;
import scala.Option;

/**
 * Setups of clusters with services that some faults need. {@link Faults} makes them; {@code
 * ChaosDriver} starts and ends them on the command's thread.
 */
final class Setups {
  private Setups() {}

  /** Settings to migrate map outputs to storage that all executors can read. */
  static Map<String, String> fallbackStorage(Path directory) throws IOException {
    Path storage = Files.createDirectories(directory.resolve("fallback"));
    return Map.of("spark.storage.decommission.fallbackStorage.path", storage.toUri() + "/");
  }

  /**
   * A node daemon to which executors hand over all map outputs. In the meantime the driver may
   * kill, stop and start it.
   */
  static final class NodeDaemon implements Fault.Setup {
    private static final String FOLDER = "node";

    @Override
    public Map<String, String> settings(Path directory) throws Exception {
      NodeProcess node =
          NodeProcess.configure(
              directory.resolve(FOLDER), directory.resolve("local"), "127.0.0.1", "soft");
      node.start();
      return Map.of("spark.shuffle.rdma.node", "on", Cluster.NODE_SOCKET, node.socket().toString());
    }

    @Override
    public void end(Path directory) throws IOException {
      new NodeProcess(directory.resolve(FOLDER)).kill();
    }
  }

  /**
   * A shuffle service that serves map outputs, with dynamic allocation. It runs in the command's
   * process, one for each cluster directory, until the setup ends.
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
