// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The mounts, users and networks of {@code conf/kubernetes}, without Kubernetes. The node's block
 * server is in the host's network. Each executor is in a network of its own and shares a host path
 * with the server.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class PodsIT {
  @TempDir private Path directory;

  private Path data;
  private Path socket;
  private PodNetwork network;

  @BeforeEach
  void open() throws Exception {
    String lack = PodNetwork.lack();
    assumeTrue(lack.isEmpty(), "executors cannot have their own network and mounts: " + lack);
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    data = hostPath("data");
    socket = hostPath("run").resolve("node.sock");
    network = PodNetwork.create(directory.resolve("pods"));
  }

  /** Makes the folder as the DaemonSet does. */
  private Path hostPath(String name) throws Exception {
    Path path = Files.createDirectory(directory.resolve(name));
    Files.setAttribute(path, "unix:uid", PodNetwork.USER);
    Files.setAttribute(path, "unix:gid", PodNetwork.USER);
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
    return path;
  }

  @AfterEach
  void close() {
    if (network != null) {
      network.close();
    }
  }

  private NodeProcess startNode() throws Exception {
    return NodeProcess.in(directory)
        .set("sluice.node.directories", data)
        .set("sluice.node.socket", socket)
        .set("sluice.node.host", network.host())
        .by(PodNetwork.asUser())
        .start();
  }

  /** The folder with the socket, as executors have it. */
  private String socketMount() {
    return "mount --bind -o ro %1$s %1$s".formatted(socket.getParent());
  }

  private LocalCluster start(int user, Path localDirectory, String mounts, String... more)
      throws Exception {
    List<String> settings = new ArrayList<>(network.settings(user, localDirectory, mounts));
    settings.addAll(List.of(more));
    settings.addAll(List.of("spark.shuffle.rdma.node", "on"));
    settings.addAll(List.of("spark.shuffle.rdma.node.socket", socket.toString()));
    String options = System.getProperty(LocalCluster.EXECUTOR_OPTIONS);
    settings.addAll(
        List.of(LocalCluster.EXECUTOR_OPTIONS, options + " -Dsluice.target=" + hostPath("target")));
    return LocalCluster.start(settings.toArray(String[]::new));
  }

  @Test
  void allIsReadAtTheNodeWhenItsPodsAndTheirAddressesAreGone() throws Exception {
    String mounts = socketMount() + "; mount --bind %1$s %1$s".formatted(data);
    try (NodeProcess node = startNode();
        LocalCluster cluster = start(PodNetwork.USER, data, mounts)) {
      JavaPairRDD<Integer, byte[]> shuffled = NodeIT.written(cluster);
      List<String> pods = network.pods();
      assertThat(pods).hasSize(2);
      NodeIT.kill(cluster, NodeIT.executors(cluster, node));
      network.remove(pods);

      NodeIT.assertReadAgain(cluster, shuffled);
      assertThat(network.pods())
          .as("executors that started afterwards")
          .hasSizeGreaterThanOrEqualTo(2);
    }
  }

  @Test
  void executorsInAnEmptyDirKeepTheirMapOutputsAndSayWhy() throws Exception {
    String mounts = socketMount() + "; mount -t tmpfs -o mode=1777 tmpfs " + data;
    try (NodeProcess _ = startNode();
        LocalCluster cluster = start(PodNetwork.USER, data, mounts)) {
      assertRefused(
          cluster, "one of them has to be in the same mount", "does not exist for this process");
    }
  }

  @Test
  void executorsWithASecondMountOfTheDiskKeepTheirMapOutputsAndSayWhy() throws Exception {
    Path second = hostPath("second");
    String mounts =
        socketMount() + "; mount --bind %1$s %1$s; mount --bind %1$s %2$s".formatted(data, second);
    try (NodeProcess _ = startNode();
        LocalCluster cluster = start(PodNetwork.USER, second, mounts)) {
      assertRefused(cluster, "one of them has to be in the same mount", "cross-device");
    }
  }

  @Test
  void executorsOfAnotherUserKeepTheirMapOutputsAndSayWhy() throws Exception {
    Path others = Files.createDirectory(directory.resolve("others"));
    Files.setAttribute(others, "unix:uid", PodNetwork.USER + 1);
    // A socket that executors may not use is no reason to wait as for a daemon that is away. Each
    // task asks again, because there may be another socket soon.
    try (NodeProcess _ = startNode();
        LocalCluster cluster =
            start(
                PodNetwork.USER + 1,
                others,
                socketMount(),
                "spark.shuffle.rdma.node.awayTimeout",
                "10min")) {
      assertRefused(cluster, "Permission denied");
    }
  }

  /** The job is right without the node, and the driver says why the node takes nothing. */
  private static void assertRefused(LocalCluster cluster, String... reasons) throws Exception {
    NodeIT.written(cluster);
    assertThat(cluster.totals().of("node.taken")).isZero();
    assertThat(LogLinesIT.driverLog(cluster.context().sc().applicationId())).contains(reasons);
  }
}
