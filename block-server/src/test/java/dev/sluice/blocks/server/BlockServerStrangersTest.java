// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.ApplicationSecret;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.rdma.fuzz.Mutator;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.client.TransportClientBootstrap;
import org.apache.spark.network.client.TransportClientFactory;
import org.apache.spark.network.crypto.AuthClientBootstrap;
import org.apache.spark.network.crypto.AuthServerBootstrap;
import org.apache.spark.network.server.NoOpRpcHandler;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections of strangers to a block server's port end, whatever they send, and leave nothing. */
@ParameterizedClass(name = "authentication {0}")
@ValueSource(booleans = {true, false})
class BlockServerStrangersTest {
  private static final int CONNECTIONS = 300;
  private static final int TIMEOUT_MS = 30_000;
  private static final int STRANGER_MS = 1_000;
  private static final TransportConf CONF =
      TestBlockServer.conf(Map.of("spark.network.auth.rpcTimeout", STRANGER_MS + "ms"));
  private static final ApplicationSecret SECRET = new ApplicationSecret("secret");

  @Parameter private boolean authentication;
  @TempDir Path directory;
  private TestBlockServer server;

  @BeforeEach
  void open() {
    server =
        authentication
            ? new TestBlockServer(directory, CONF, new AuthServerBootstrap(CONF, SECRET))
            : new TestBlockServer(directory, CONF);
  }

  @AfterEach
  void close() {
    server.close();
  }

  /**
   * Frames of all types of Spark's transport: length, type, id, length of the message, and a
   * message that a block server does not know.
   */
  private static List<byte[]> frames() {
    byte[] message = {9, 16, 0, 0, 0, 1};
    List<byte[]> frames = new ArrayList<>();
    for (byte type = 0; type < 11; type++) {
      ByteBuffer frame = ByteBuffer.allocate(8 + 1 + 8 + 4 + message.length);
      frame.putLong(frame.capacity()).put(type).putLong(7).putInt(message.length).put(message);
      frames.add(frame.array());
    }
    return frames;
  }

  @Test
  void garbageInPiecesOfAnySizeEndsInAClosedConnection() throws Exception {
    assertAllEnd(new Mutator(1, frames()), 3); // the first ones make threads and load classes
    long before = openFiles();
    assertAllEnd(new Mutator(2, frames()), CONNECTIONS);
    awaitOpenFiles(before);
  }

  private void assertAllEnd(Mutator mutator, int count) throws Exception {
    List<Socket> sockets = new ArrayList<>();
    Random random = new Random(count);
    for (int i = 0; i < count; i++) {
      Socket socket = new Socket("localhost", server.port());
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(TIMEOUT_MS);
      sockets.add(socket);
      send(socket, i % 10 == 0 ? new byte[0] : mutator.input(i), random);
    }
    for (Socket socket : sockets) {
      assertEnds(socket);
    }
  }

  private static void send(Socket socket, byte[] bytes, Random random) {
    try {
      for (int at = 0; at < bytes.length; ) {
        int piece = Math.min(bytes.length - at, 1 + random.nextInt(40));
        socket.getOutputStream().write(bytes, at, piece);
        at += piece;
      }
    } catch (IOException e) {
      // The server has closed it meanwhile.
    }
  }

  private static void assertEnds(Socket socket) throws IOException {
    try (socket) {
      InputStream in = socket.getInputStream();
      byte[] answer = new byte[1024];
      while (in.read(answer) >= 0) {
        // Skips failures that the server may send.
      }
    } catch (SocketException e) {
      assertThat(e).as("reset").hasMessageContaining("reset");
    }
  }

  @Test
  void aFrameThatIsAnnouncedToBeLargeIsNotWaitedFor() throws Exception {
    byte[] piece = new byte[1 << 16];
    try (Socket socket = new Socket("localhost", server.port())) {
      socket.setSoTimeout(TIMEOUT_MS);
      socket.getOutputStream().write(ByteBuffer.allocate(8).putLong(1 << 30).array());
      int sent = 0;
      try {
        for (; sent < 1 << 29; sent += piece.length) {
          socket.getOutputStream().write(piece);
        }
      } catch (IOException e) {
        // The server has closed it meanwhile.
      }
      assertThat(sent).as("bytes that the server accepted").isLessThan(1 << 27);
    }
  }

  @Test
  void peersThatSentAValidMessageMayBeSilent() throws Exception {
    byte[] resolve =
        new MessageCodec(ControlMessages.TYPES)
            .encode(
                new ControlMessages.Addressed(
                    TestBlockServer.SELF,
                    "client",
                    new ControlMessages.Resolve(1, new long[] {1})));
    List<TransportClientBootstrap> bootstraps =
        authentication ? List.of(new AuthClientBootstrap(CONF, "app", SECRET)) : List.of();
    try (TransportContext context = new TransportContext(CONF, new NoOpRpcHandler());
        TransportClientFactory factory = context.createClientFactory(bootstraps);
        TransportClient client = factory.createUnmanagedClient("localhost", server.port())) {
      client.sendRpcSync(ByteBuffer.wrap(resolve), TIMEOUT_MS);
      Thread.sleep(3 * STRANGER_MS);
      client.sendRpcSync(ByteBuffer.wrap(resolve), TIMEOUT_MS);
    }
  }

  private static long openFiles() throws IOException {
    try (var files = Files.list(Path.of("/proc/self/fd"))) {
      return files.count();
    }
  }

  private static void awaitOpenFiles(long atMost) throws Exception {
    long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);
    while (openFiles() > atMost) {
      assertThat(System.nanoTime()).as("files stay open").isLessThan(deadlineNs);
      Thread.sleep(10);
    }
  }
}
