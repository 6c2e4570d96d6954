// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.testkit.Directories;
import dev.sluice.testkit.ExecutorProcess;
import dev.sluice.testkit.NodeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Ways to strike the node daemon that all executors of a cluster use. {@link Faults} makes them, in
 * the command and in its drivers.
 *
 * <p>The command's thread starts the daemon before the driver, and kills it when the driver has
 * ended; a shutdown hook does so otherwise. In between, the driver's main thread kills, stops and
 * starts it.
 */
final class NodeServer {
  private static final String FOLDER = "node";

  private NodeServer() {}

  /** Returns the index files of the daemon's own copies; those of living executors stay intact. */
  static List<Path> indexes(Cluster cluster) throws IOException {
    Path folder = Path.of(cluster.setting("spark.local.dir"), ".sluice");
    return Directories.files(folder, "index"::equals);
  }

  /** Returns the daemon as a victim of {@link ExecutorFaults.StoppedProcess}. */
  static ExecutorProcess process(Cluster cluster, Random random) throws IOException {
    return ExecutorProcess.of(cluster.node());
  }

  /** Starts a node daemon to which executors hand over all map outputs. */
  static final class Server implements Fault.Setup {
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

  /** Kills the daemon; healing starts it again. */
  static final class Killed implements FaultAction {
    @Override
    public void strike(Cluster cluster, Random random) throws IOException {
      cluster.node().kill();
    }

    @Override
    public void heal(Cluster cluster) throws Exception {
      if (!cluster.node().isAlive()) {
        cluster.node().start();
      }
    }
  }

  /** Removes the daemon's socket; executors that have registered stay. */
  static final class SocketGone implements FaultAction {
    @Override
    public void strike(Cluster cluster, Random random) throws IOException {
      Files.deleteIfExists(cluster.node().socket());
    }

    @Override
    public void heal(Cluster cluster) throws Exception {
      if (!Files.exists(cluster.node().socket())) {
        cluster.node().kill();
        cluster.node().start();
      }
    }
  }
}
