// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.fuzz.Mutator;
import dev.sluice.rdma.soft.Link.Hello;
import dev.sluice.rdma.soft.SoftAddress.Token;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Garbage on the data port, in pieces of any size. Before a hello it ends the connection, at the
 * latest when the time for a hello is over. Behind a hello it does so when the peer ends. No socket
 * stays open.
 */
class GarbageConnectionTest extends SoftNodes {
  private static final int CONNECTIONS = 300;
  private static final int TIMEOUT_MS = 60_000;

  private static Socket open(QueuePair queuePair) throws IOException {
    SoftAddress address = SoftAddress.of(queuePair.address());
    Socket socket = new Socket();
    socket.connect(new InetSocketAddress(address.gid().toInetAddress(), address.port()));
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(TIMEOUT_MS);
    return socket;
  }

  private static void send(Socket socket, byte[] bytes, Random random) {
    try {
      for (int at = 0; at < bytes.length; ) {
        int piece = Math.min(bytes.length - at, 1 + random.nextInt(60));
        socket.getOutputStream().write(bytes, at, piece);
        at += piece;
      }
    } catch (IOException e) {
      // The device closed the connection in the middle.
    }
  }

  private static void assertEnds(Socket socket) throws IOException {
    try (socket) {
      while (socket.getInputStream().read(new byte[1024]) >= 0) {
        // Ignores any answers.
      }
    } catch (SocketException e) {
      assertThat(e).as("reset").hasMessageContaining("reset");
    }
  }

  @Test
  void garbageInThePlaceOfAHelloEndsTheConnection() throws Exception {
    QueuePair queuePair = left.createQueuePair();
    queuePair.toInit(TestNode.ALL);
    Token wrong = Token.random(new SecureRandom());
    byte[] hello = new Hello(1, wrong, queuePair.qpNumber(), wrong).encode().array();
    Mutator mutator = new Mutator(3, List.of(hello, SoftFramesFuzz.valid().getFirst()));
    Random random = new Random(3);
    long before = openFiles();
    List<Socket> sockets = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) {
      sockets.add(open(queuePair));
      send(sockets.getLast(), i % 10 == 0 ? new byte[0] : mutator.input(i), random);
    }
    for (Socket socket : sockets) {
      assertEnds(socket);
    }
    awaitOpenFiles(before);
  }

  @Test
  void garbageBehindAHelloEndsTheConnectionWithItsPeer() throws Exception {
    Mutator mutator = new Mutator(4, SoftFramesFuzz.valid());
    Random random = new Random(4);
    long before = openFiles();
    for (int i = 0; i < CONNECTIONS; i++) {
      QueuePair queuePair = left.createQueuePair();
      try (RawPeer peer = RawPeer.connectTo(queuePair, 16, ConnectionAttributes.DEFAULT)) {
        byte[] bytes = mutator.input(i);
        peer.sendWhatItTakes(ByteBuffer.wrap(bytes), 1 + random.nextInt(60));
        peer.assertClosed();
      }
      queuePair.close();
    }
    awaitOpenFiles(before);
  }

  private static long openFiles() throws IOException {
    try (var files = Files.list(Path.of("/proc/self/fd"))) {
      return files.count();
    }
  }

  private static void awaitOpenFiles(long atMost) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);
    while (openFiles() > atMost) {
      assertThat(System.nanoTime()).as("files stay open").isLessThan(deadline);
      Thread.sleep(10);
    }
  }
}
