// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.handover.NodeChannel;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.NodeMessages.Accepted;
import dev.sluice.blocks.wire.NodeMessages.HandOver;
import dev.sluice.blocks.wire.NodeMessages.RegisterExecutor;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.testkit.Poll;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Disk of one application that does not answer, while other applications go on. A named pipe in
 * place of an index file simulates it: opening it waits for a process that writes to it.
 */
class NodeSlowDiskTest {
  private static final String STUCK = "app-1-ab";
  private static final String OTHER = "app-2-cd";
  private static final String THIRD = "app-3-ef";
  private static final String SECRET = "of the applications";
  private static final int SHUFFLE = 5;

  /** More than the carrier threads of virtual threads. */
  private static final int HAND_OVERS = 3 * Runtime.getRuntime().availableProcessors();

  /** Shorter than the daemon waits for a registry's end. */
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private static final NodeClient.Limits LIMITS = new NodeClient.Limits(TIMEOUT, TIMEOUT);

  /** A registry also waits for the pipe, in vain. */
  private static final Duration WAIT = Duration.ofSeconds(30);

  @TempDir Path directory;
  private final List<NodeChannel> connections = new ArrayList<>();
  private final List<Path> pipes = new ArrayList<>();
  private volatile boolean closed;
  private Path socket;
  private TestMapOutputs outputs;
  private int httpPort;
  private NodeDaemon daemon;

  @BeforeEach
  void start() throws Exception {
    Files.createDirectory(directory.resolve("node"));
    outputs = new TestMapOutputs(Files.createDirectory(directory.resolve("executor")));
    socket = directory.resolve("node.sock");
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      httpPort = free.getLocalPort();
    }
    daemon =
        NodeDaemon.start(
            NodeOptions.of(
                Map.of(
                    NodeSettings.DIRECTORIES.key(),
                    directory.resolve("node").toString(),
                    NodeSettings.SOCKET.key(),
                    socket.toString(),
                    NodeSettings.HOST.key(),
                    "127.0.0.1",
                    NodeSettings.PORTS.key(),
                    "0",
                    NodeSettings.PROVIDER.key(),
                    "soft",
                    NodeSettings.MIN_FREE_BYTES.key(),
                    "1m",
                    NodeSettings.MAX_EXECUTORS.key(),
                    Integer.toString(HAND_OVERS),
                    NodeSettings.HTTP.key(),
                    "127.0.0.1:" + httpPort)));
  }

  @AfterEach
  void close() throws Exception {
    for (NodeChannel connection : connections) {
      connection.close();
    }
    answerPipes();
    awaitNone("{" + STUCK + ",.removed-*}"); // on other threads, which are not waited for
    daemon.close();
    closed = true;
  }

  /** Empties all pipes from now on, so that each thread that waits for one ends. */
  private void answerPipes() {
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              while (!closed) {
                pipes.forEach(NodeSlowDiskTest::answer);
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
              }
            });
  }

  private static void answer(Path pipe) {
    try {
      Files.newByteChannel(pipe, StandardOpenOption.READ, StandardOpenOption.WRITE).close();
    } catch (IOException _) {
      // The pipe was removed with its application.
    }
  }

  @Test
  void aDiskThatHangsDelaysNoOtherApplication() throws Exception {
    PeerAddress stuck = handOverInVain(HAND_OVERS);
    assertThatThrownBy(() -> enter(STUCK))
        .hasMessageContaining(HAND_OVERS + " executors are connected already");
    try (NodeReader driver = new NodeReader(STUCK, SECRET)) {
      driver.tell(stuck, new EndApplication());
    }

    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    assertThat(get("/healthz")).isEqualTo("ok\n");
    try (NodeClient executor = enter(OTHER);
        NodeReader reader = new NodeReader(OTHER, SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      assertThat(reader.read(executor.endpoint().peer(), SHUFFLE, 10)).isEqualTo(data);
    }
    try (NodeClient executor = enter(THIRD);
        NodeReader driver = new NodeReader(THIRD, SECRET)) {
      driver.tell(executor.endpoint().peer(), new EndApplication());
      awaitNone(THIRD);
    }
    assertThat(get("/metrics")).contains("application=\"" + OTHER + "\"");
  }

  @Test
  void anApplicationEndsBehindHandOversThatAreUnderWay() throws Exception {
    PeerAddress node = handOverInVain(1);
    try (NodeReader driver = new NodeReader(STUCK, SECRET)) {
      driver.tell(node, new EndApplication());
    }
    Files.write(pipes.getFirst(), endOfIndex(100), StandardOpenOption.WRITE);
    assertThat(connections.getFirst().receive()).isEqualTo(new Accepted());
    answerPipes();
    awaitNone(STUCK);
    assertThat(directory.resolve("node/.sluice")).isDirectoryNotContaining("glob:**/*app*");
  }

  /** A pipe has no length, so that its first offset is read as the last one. */
  private static byte[] endOfIndex(long bytes) {
    return ByteBuffer.allocate(Long.BYTES).putLong(bytes).array();
  }

  private NodeClient enter(String application) throws IOException {
    return NodeClient.enter(socket, new ProcessName(application, "3"), SECRET, LIMITS);
  }

  /** Hands over map outputs, each by an executor of its own; none gets an answer. */
  private PeerAddress handOverInVain(int handOvers) throws Exception {
    Registered entered = null;
    for (int mapId = 0; mapId < handOvers; mapId++) {
      NodeChannel connection = NodeChannel.connect(socket);
      connections.add(connection);
      connection.send(new RegisterExecutor(new ProcessName(STUCK, "" + mapId), SECRET));
      entered = (Registered) connection.receive();
      Path folder = Path.of(entered.folders().getFirst()).resolve(SHUFFLE + "-" + mapId);
      Files.createDirectory(folder);
      Files.write(folder.resolve("data"), new byte[100]);
      pipes.add(folder.resolve("index"));
      assertThat(new ProcessBuilder("mkfifo", "" + pipes.getLast()).start().waitFor()).isZero();
      connection.send(new HandOver(SHUFFLE, mapId, 0));
    }
    return new PeerAddress(entered.nodeId(), entered.host(), entered.port());
  }

  private String get(String path) throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + httpPort + path))
              .timeout(TIMEOUT)
              .build();
      return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }
  }

  private void awaitNone(String glob) throws Exception {
    Poll.await("no file is like " + glob, WAIT, () -> !isThere(glob));
  }

  private boolean isThere(String glob) throws IOException {
    Path folder = directory.resolve("node/.sluice");
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, glob)) {
      return found.iterator().hasNext();
    }
  }
}
