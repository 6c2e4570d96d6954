// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.testkit.Poll;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Daemon whose address for metrics, or port for MapReduce, is taken by another process. */
class NodePagesPortTest extends NodeDaemonTestCase {
  @Test
  void aTakenPortDelaysThePagesAndNothingElse() throws Exception {
    set(NodeSettings.EXPIRE_AFTER, "1s"); // tries the port ten times a second
    int port;
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = other.getLocalPort();
      set(NodeSettings.HTTP, "127.0.0.1:" + port);
      start();
      outputs.write(SHUFFLE, 10, 1_000);
      try (NodeClient executor = enter(APPLICATION, SECRET)) {
        executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      }
    }
    Poll.await("the pages are served", WAIT, () -> isServed(port));
    daemon.close();
    assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), port).close())
        .isInstanceOf(IOException.class);
  }

  /** A readiness probe must not take the node from Spark, which needs no port for MapReduce. */
  @Test
  void aTakenPortForMapReduceIsShownOnThePagesAndTheNodeIsReady() throws Exception {
    set(NodeSettings.EXPIRE_AFTER, "1s"); // tries the port ten times a second
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    set(NodeSettings.HTTP, "127.0.0.1:" + port);
    String key = NodeSettings.MAPREDUCE_PORT.key();
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      set(NodeSettings.MAPREDUCE_PORT, Integer.toString(other.getLocalPort()));
      start();
      assertThat(get(port, "/readyz").statusCode()).isEqualTo(200);
      JsonNode unbound = new ObjectMapper().readTree(get(port, "/api/v1").body()).path("unbound");
      assertThat(unbound.path(key).asText()).contains("in use");
      assertThat(get(port, "/").body()).contains(key + " cannot be bound: ");
      assertThat(get(port, "/metrics").body()).contains("sluice_node_unbound_addresses 1.0\n");
    }
    Poll.await(
        "the port for MapReduce is bound", WAIT, () -> !get(port, "/api/v1").body().contains(key));
    assertThat(get(port, "/").body()).doesNotContain(key, "{unbound}");
    assertThat(get(port, "/metrics").body()).contains("sluice_node_unbound_addresses 0.0\n");
  }

  private static HttpResponse<String> get(int port, String path) throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
              .timeout(TIMEOUT)
              .build();
      return http.send(request, BodyHandlers.ofString());
    }
  }

  /** The daemon tries again for as long as it runs. */
  @Test
  void attemptsAtATakenPortLeaveNoSocketOpen() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      InetSocketAddress taken = (InetSocketAddress) other.getLocalSocketAddress();
      long before = sockets();
      for (int attempt = 0; attempt < 100; attempt++) {
        assertThatThrownBy(() -> new NodePages(taken, List::of, () -> false, Map::of))
            .isInstanceOf(IOException.class);
      }
      assertThat(sockets()).as("earlier tests' threads may open some").isLessThan(before + 50);
    }
  }

  private static long sockets() throws IOException {
    long sockets = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path file : files) {
        try {
          sockets += Files.readSymbolicLink(file).toString().startsWith("socket:") ? 1 : 0;
        } catch (NoSuchFileException e) {
          // It was closed meanwhile.
        }
      }
    }
    return sockets;
  }

  private static boolean isServed(int port) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (java.net.ConnectException e) {
      return false;
    }
  }
}
