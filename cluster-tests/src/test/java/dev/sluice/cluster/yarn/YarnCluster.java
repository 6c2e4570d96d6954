// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.yarn.SluiceNodeService;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/**
 * A ResourceManager and a NodeManager in this process, with the auxiliary service, and the daemon
 * installed as on a host. The caller that starts it closes it. For one thread.
 */
final class YarnCluster implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofMinutes(1);
  private static final Path ROOT = Path.of(System.getProperty("sluice.root"));
  private static final String DAEMON = "dev.sluice.node.NodeMain";

  private final MiniYARNCluster cluster = new MiniYARNCluster("sluice", 1, 1, 1);
  private final Path socket;

  private YarnCluster(Path socket) {
    this.socket = socket;
  }

  static YarnCluster start(Path directory) throws Exception {
    Path conf = directory.resolve("sluice-node.conf");
    Files.write(
        conf,
        List.of(
            "sluice.node.provider=soft",
            // The machine's own name may stand for a loopback address, which is refused by default.
            "sluice.node.host=127.0.0.1",
            "sluice.node.minFreeBytes=1m",
            "sluice.node.expireAfter=10s",
            "sluice.node.http="));
    YarnCluster cluster = new YarnCluster(directory.resolve("node.sock"));
    Configuration yarn = new YarnConfiguration();
    yarn.set("yarn.nodemanager.aux-services", "sluice_node");
    yarn.set("yarn.nodemanager.aux-services.sluice_node.class", SluiceNodeService.class.getName());
    yarn.set("sluice.yarn.home", install(directory.resolve("sluice")).toString());
    yarn.set("sluice.yarn.java.home", System.getProperty("java.home"));
    yarn.set("sluice.yarn.conf", conf.toString());
    yarn.set("sluice.yarn.socket", cluster.socket.toString());
    yarn.setBoolean("yarn.nodemanager.vmem-check-enabled", false);
    // The time for which it looks for the processes of ended containers.
    yarn.setInt("yarn.nodemanager.process-kill-wait.ms", 500);
    // Settings of a capacity-scheduler.xml.
    yarn.set("yarn.scheduler.capacity.root.queues", "default");
    yarn.set("yarn.scheduler.capacity.root.default.capacity", "100");
    yarn.set("yarn.scheduler.capacity.root.default.user-limit-factor", "100");
    yarn.set("yarn.scheduler.capacity.maximum-am-resource-percent", "1");
    boolean started = false;
    try {
      cluster.cluster.init(yarn);
      cluster.cluster.start();
      cluster.awaitDaemon(0);
      started = true;
      return cluster;
    } finally {
      if (!started) {
        cluster.close();
      }
    }
  }

  /** Installs the service as docs/yarn.md describes. */
  private static Path install(Path home) throws IOException {
    Path jars = Files.createDirectories(home.resolve("jars"));
    copy("bin/sluice-node", home);
    copy("bin/lib.sh", home);
    copy("conf/sluice-node.log4j2.properties", home);
    for (String module : List.of("node-server", "block-server", "rdma-net", "verbs")) {
      String jar = "sluice-%s-%s.jar".formatted(module, System.getProperty("sluice.version"));
      link(ROOT.resolve(module + "/target").resolve(jar), jars);
    }
    try (Stream<Path> libraries = Files.list(ROOT.resolve("node-server/target/lib"))) {
      for (Path library : libraries.toList()) {
        link(library, jars);
      }
    }
    return home;
  }

  private static void copy(String file, Path home) throws IOException {
    Files.createDirectories(home.resolve(file).getParent());
    Files.copy(ROOT.resolve(file), home.resolve(file));
  }

  private static void link(Path jar, Path jars) throws IOException {
    Files.createSymbolicLink(jars.resolve(jar.getFileName()), jar);
  }

  Configuration conf() {
    return cluster.getConfig();
  }

  /** The folder of a run of an application, in the NodeManager's local directory. */
  Path folder(String run) {
    Configuration node = cluster.getNodeManager(0).getConfig();
    return Path.of(node.getTrimmedStrings("yarn.nodemanager.local-dirs")[0])
        .resolve(".sluice")
        .resolve(run);
  }

  /** The daemon, once another one than before listens. */
  ProcessHandle awaitDaemon(long before) throws Exception {
    await("there is no daemon", () -> listens() && daemon(before) != null);
    return daemon(before);
  }

  private static ProcessHandle daemon(long before) {
    return processes(DAEMON).filter(process -> process.pid() != before).findAny().orElse(null);
  }

  private boolean listens() {
    try (SocketChannel _ = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
      return true;
    } catch (IOException _) {
      return false;
    }
  }

  /** Child processes of this process that have a class in their command lines. */
  static Stream<ProcessHandle> processes(String name) {
    return ProcessHandle.current()
        .descendants()
        .filter(process -> process.info().command().orElse("").endsWith("/java"))
        .filter(process -> commandLine(process).contains(name));
  }

  /**
   * The whole command line of a process; ProcessHandle has only a page of it. Empty if the process
   * has ended.
   */
  private static String commandLine(ProcessHandle process) {
    try {
      return Files.readString(Path.of("/proc/" + process.pid() + "/cmdline"));
    } catch (IOException _) {
      return "";
    }
  }

  static void await(String what, Callable<Boolean> condition) throws Exception {
    long deadlineNanos = System.nanoTime() + TIMEOUT.toNanos();
    while (!condition.call()) {
      assertThat(System.nanoTime() - deadlineNanos).as(what).isNegative();
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  @Override
  public void close() {
    cluster.stop();
  }
}
