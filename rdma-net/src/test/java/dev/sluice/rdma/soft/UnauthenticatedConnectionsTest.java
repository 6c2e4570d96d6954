// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.log.LogCapture;
import dev.sluice.rdma.soft.Link.Hello;
import dev.sluice.rdma.soft.SoftAddress.Token;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;

/** Connections that never say hello keep no peer out, and do not fill the log. */
class UnauthenticatedConnectionsTest extends SoftNodes {
  private static final int MANY = 1024;

  private static InetAddress local(int last) throws UnknownHostException {
    return InetAddress.getByName("127.0.0." + last);
  }

  private static InetSocketAddress listening(QueuePair queuePair) throws IOException {
    QueuePairAddress address = queuePair.address();
    return new InetSocketAddress(address.gid().toInetAddress(), SoftAddress.of(address).port());
  }

  private InetSocketAddress listening(TestNode node) throws IOException {
    QueuePair queuePair = node.createQueuePair();
    queuePair.toInit(TestNode.ALL);
    InetSocketAddress address = listening(queuePair);
    queuePair.close();
    return address;
  }

  private void assertPeersRead(TestNode right, int times) throws IOException {
    MemoryRegion source = right.register(64, TestNode.ALL);
    MemoryRegion target = left.register(64, TestNode.ALL);
    for (int i = 0; i < times; i++) {
      QueuePair queuePair = connect(right, ConnectionAttributes.DEFAULT);
      queuePair.postSend(List.of(read(i, target, source, 64)));
      assertThat(await(1)).containsExactly(SUCCESS);
      queuePair.close();
    }
  }

  @Test
  void peersConnectWhileStrangersHoldAllTheRoomThereIs() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    List<InetAddress> sources = new ArrayList<>();
    for (int i = 2; i < 34; i++) {
      sources.add(local(i));
    }
    // Occupies both devices, as either may be the one that the other connects to.
    try (SilentSockets of = new SilentSockets(listening(left), MANY + 200, sources);
        SilentSockets also = new SilentSockets(listening(right), MANY + 200, sources)) {
      of.awaitOpened(2 * MANY);
      also.awaitOpened(2 * MANY);
      assertPeersRead(right, 20);
    }
  }

  @Test
  void peersConnectFromTheAddressThatStrangersHave() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    List<InetAddress> own = List.of(local(1));
    try (SilentSockets of = new SilentSockets(listening(left), MANY + 200, own);
        SilentSockets also = new SilentSockets(listening(right), MANY + 200, own)) {
      of.awaitOpened(2 * MANY);
      also.awaitOpened(2 * MANY);
      assertPeersRead(right, 20);
    }
  }

  @Test
  void strangersOfOneAddressDoNotTakeTheRoomOfOthers() throws Exception {
    InetSocketAddress device = listening(left);
    try (SocketChannel slow = SocketChannel.open().bind(new InetSocketAddress(local(2), 0))) {
      slow.connect(device);
      slow.configureBlocking(false);
      try (SilentSockets strangers = new SilentSockets(device, MANY + 200, List.of(local(3)))) {
        strangers.awaitOpened(2 * MANY);
      }
      assertThat(SilentSockets.isClosed(slow, ByteBuffer.allocate(1))).isFalse();
    }
  }

  @Test
  void closedStrangersAreLoggedOnce() throws Exception {
    try (LogCapture warnings = new LogCapture(Acceptor.class, Level.WARN)) {
      try (SilentSockets strangers =
          new SilentSockets(listening(left), MANY + 200, List.of(local(2)))) {
        strangers.awaitOpened(2 * MANY);
      }
      assertThat(warnings.messages()).hasSize(1);
    }
  }

  @Test
  void wrongTokensAreLoggedOnce() throws Exception {
    QueuePair victim = left.createQueuePair();
    victim.toInit(TestNode.ALL);
    Token wrong = Token.random(new SecureRandom());
    try (LogCapture warnings = new LogCapture(Acceptor.class, Level.WARN)) {
      for (int i = 0; i < 50; i++) {
        try (SocketChannel socket = SocketChannel.open(listening(victim))) {
          socket.write(new Hello(1, wrong, victim.qpNumber(), wrong).encode());
          assertThat(socket.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
      }
      assertThat(warnings.messages()).hasSize(1);
      assertThat(warnings.messages().getFirst())
          .contains("refused a connection without a valid token");
    }
  }
}
