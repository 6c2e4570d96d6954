// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.conf.Setting;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.testkit.Poll;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Daemon in this process, with its own directory, socket and executor. */
abstract class NodeDaemonTestCase {
  static final Duration TIMEOUT = Duration.ofSeconds(20);
  static final NodeClient.Limits LIMITS = new NodeClient.Limits(TIMEOUT, TIMEOUT);
  static final long WAIT_S = 30;
  static final Duration WAIT = Duration.ofSeconds(WAIT_S);
  static final String APPLICATION = "app-1-ab";
  static final String OTHER = "app-2-cd";
  static final String SECRET = "of the application";
  static final int SHUFFLE = 5;

  @TempDir Path directory;
  final Map<String, String> settings = new HashMap<>();
  Path socket;
  TestMapOutputs outputs;
  NodeDaemon daemon;

  @BeforeEach
  void open() throws Exception {
    Files.createDirectory(directory.resolve("node"));
    outputs = new TestMapOutputs(Files.createDirectory(directory.resolve("executor")));
    socket = directory.resolve("node.sock");
    set(NodeSettings.DIRECTORIES, directory.resolve("node").toString());
    set(NodeSettings.SOCKET, socket.toString());
    set(NodeSettings.HOST, "127.0.0.1");
    set(NodeSettings.PROVIDER, "soft");
    set(NodeSettings.MIN_FREE_BYTES, "1m");
    set(NodeSettings.PORTS, "0");
    set(NodeSettings.DRAIN_FILE, directory.resolve("drain").toString());
    set(NodeSettings.HTTP, "");
  }

  @AfterEach
  void close() {
    if (daemon != null) {
      daemon.close();
    }
  }

  void set(Setting<?> setting, String value) {
    settings.put(setting.key(), value);
  }

  void start() throws IOException {
    daemon = NodeDaemon.start(NodeOptions.of(settings));
  }

  NodeClient enter(String application, String secret) throws IOException {
    return NodeClient.enter(socket, new ProcessName(application, "3"), secret, LIMITS);
  }

  Path folder(String application) {
    return directory.resolve("node/.sluice").resolve(application);
  }

  long metric(String application, NodeMetric metric) {
    return daemon.applications().stream()
        .filter(candidate -> candidate.name().equals(application))
        .mapToLong(metric::of)
        .sum();
  }

  int portOf(String application) {
    return daemon.applications().stream()
        .filter(candidate -> candidate.name().equals(application))
        .mapToInt(candidate -> candidate.state().port())
        .findFirst()
        .orElseThrow();
  }

  /** Returns the first of three adjoining ports. Another process may still take one. */
  static int threeFreePorts() throws IOException {
    InetAddress address = InetAddress.getByName("127.0.0.1");
    for (int first = 20_000; ; first += 3) {
      try (ServerSocket _ = new ServerSocket(first, 1, address);
          ServerSocket _ = new ServerSocket(first + 1, 1, address);
          ServerSocket _ = new ServerSocket(first + 2, 1, address)) {
        return first;
      } catch (BindException e) {
        assertThat(first).as("%s", e).isLessThan(30_000);
      }
    }
  }

  static FileStore store(Path path) throws IOException {
    return Files.getFileStore(path);
  }

  void awaitNone(String application) throws Exception {
    // The folder is removed before the application.
    Poll.await(
        application + " is removed",
        WAIT,
        () -> Files.notExists(folder(application)) && daemon.applications().isEmpty());
  }
}
