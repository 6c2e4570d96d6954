// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.chaos.fault.ExecutorFaults.StoppedProcess;
import dev.sluice.chaos.fault.Fault.Moment;
import dev.sluice.testkit.ExecutorProcess;
import dev.sluice.testkit.NodeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

/**
 * Faults of the node daemon that all executors use, of its files, and of an executor that hands
 * over to it. {@link Faults} lists them, in the command and in its drivers. Only Sluice can notice
 * the faults of the daemon and of its index files: they may repeat no stage and no task. The stock
 * shuffle suffers the others as well: data files that both share, and a killed executor.
 *
 * <p>The command's thread starts the daemon before the driver, and kills it when the driver has
 * ended; a shutdown hook does so otherwise. In between, the driver's main thread kills, stops and
 * starts it.
 */
final class NodeServer {
  private static final String CLUSTER = "node";

  private NodeServer() {}

  /** Returns these faults, and those of executors that the daemon makes harmless. */
  static List<Fault> faults() {
    return List.of(
        node(
                "killed",
                "killed and started again while reduce tasks read",
                Moment.REDUCE,
                new Killed())
            .lasting(500),
        node(
                "killed-writing",
                "killed and started again while map tasks write",
                Moment.MAP,
                new Killed())
            .lasting(500),
        node("stopped-5s", "SIGSTOP for 5 s", Moment.REDUCE, stopped()).lasting(5_000),
        node("stopped-writing", "SIGSTOP for 5 s while map tasks write", Moment.MAP, stopped())
            .lasting(5_000),
        node(
                "socket-gone",
                "socket removed, so that no executor can register",
                Moment.MAP,
                new SocketGone())
            .lasting(3_000),
        node(
                "index-truncated",
                "its index files are truncated",
                Moment.REDUCE,
                new FilesDamaged(NodeServer::indexes, FilesDamaged::truncate))
            .within(50),
        // The daemon and the executors share these files.
        FilesDamaged.fault(
                "node-file-truncated",
                "map output files of the node daemon are truncated",
                ".data",
                FilesDamaged::truncate)
            .on(CLUSTER, new Server()),
        new Fault(
                "node-executor-killed",
                "kill -9 of an executor that uses the node daemon",
                Moment.REDUCE,
                Faults.KILL)
            .shared(0, 1)
            .on(CLUSTER, new Server()));
  }

  /** Returns the index files of the daemon's own copies; those of living executors stay intact. */
  private static List<Path> indexes(Cluster cluster) throws IOException {
    Path folder = Path.of(cluster.setting("spark.local.dir"), ".sluice");
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.endsWith("index")).sorted().toList();
    }
  }

  private static FaultAction stopped() {
    return new StoppedProcess((cluster, _) -> ExecutorProcess.of(cluster.node()));
  }

  private static Fault node(String name, String what, Moment moment, FaultAction action) {
    return new Fault("node-" + name, "node daemon: " + what, moment, action)
        .on(CLUSTER, new Server());
  }

  /** Starts a node daemon to which executors hand over all map outputs. */
  private static final class Server implements Fault.Setup {
    @Override
    public Map<String, String> settings(Path directory) throws Exception {
      NodeProcess node =
          NodeProcess.configure(folder(directory), directory.resolve("local"), "127.0.0.1", "soft");
      node.start();
      return Map.of("spark.shuffle.rdma.node", "on", Cluster.NODE_SOCKET, node.socket().toString());
    }

    @Override
    public void end(Path directory) throws IOException {
      new NodeProcess(folder(directory)).kill();
    }

    private static Path folder(Path directory) {
      return directory.resolve("node");
    }
  }

  private static final class Killed implements FaultAction {
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
  private static final class SocketGone implements FaultAction {
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
