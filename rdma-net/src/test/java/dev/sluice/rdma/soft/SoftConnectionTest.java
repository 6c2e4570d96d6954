// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.soft.Link.Hello;
import dev.sluice.rdma.soft.SoftAddress.Token;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.verbs.VerbsException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests the right to connect: tokens, other protocols, addresses of other providers. */
class SoftConnectionTest extends SoftNodes {
  private static SocketChannel dial(QueuePairAddress address) throws IOException {
    return SocketChannel.open(
        new InetSocketAddress(address.gid().toInetAddress(), SoftAddress.of(address).port()));
  }

  private static Token tokenOf(QueuePairAddress address) throws VerbsException {
    return SoftAddress.of(address).token();
  }

  @Test
  void connectionWithAWrongTokenIsClosedAndTheRealPeerStillGetsIn() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    QueuePair a = left.createQueuePair();
    QueuePair b = right.createQueuePair();
    a.toInit(TestNode.ALL);
    b.toInit(TestNode.ALL);
    Token wrong = Token.random(new SecureRandom());
    for (QueuePairAddress victim : List.of(a.address(), b.address())) {
      try (SocketChannel socket = dial(victim)) {
        socket.write(new Hello(1, wrong, victim.qpNumber(), wrong).encode());
        assertEndOfStream(socket);
      }
    }
    a.toRtr(b.address(), ConnectionAttributes.DEFAULT);
    b.toRtr(a.address(), ConnectionAttributes.DEFAULT);
    a.toRts();
    MemoryRegion source = right.register(8, TestNode.ALL);
    a.postSend(List.of(read(1, left.register(8, TestNode.ALL), source, 8)));
    assertThat(await(1)).containsExactly(SUCCESS);
  }

  @Test
  void tokenIsGoodForOneConnection() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    QueuePair a = left.createQueuePair();
    QueuePair b = right.createQueuePair();
    TestNode.connect(a, b);
    MemoryRegion source = right.register(8, TestNode.ALL);
    MemoryRegion target = left.register(8, TestNode.ALL);
    a.postSend(List.of(read(1, target, source, 8)));
    assertThat(await(1)).containsExactly(SUCCESS);
    for (QueuePairAddress[] way :
        new QueuePairAddress[][] {{a.address(), b.address()}, {b.address(), a.address()}}) {
      try (SocketChannel socket = dial(way[1])) {
        socket.write(
            new Hello(way[0].qpNumber(), tokenOf(way[0]), way[1].qpNumber(), tokenOf(way[1]))
                .encode());
        assertEndOfStream(socket);
      }
    }
    a.postSend(List.of(read(2, target, source, 8)));
    assertThat(await(1)).containsExactly(SUCCESS);
  }

  /** Otherwise the last small piece of one end would wait for the delayed ACK of the other. */
  @Test
  void neitherEndWaitsBeforeItSendsLittle() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    QueuePair a = left.createQueuePair();
    QueuePair b = right.createQueuePair();
    TestNode.connect(a, b);
    MemoryRegion source = right.register(8, TestNode.ALL);
    a.postSend(List.of(read(1, left.register(8, TestNode.ALL), source, 8)));
    assertThat(await(1)).containsExactly(SUCCESS);
    for (QueuePair queuePair : List.of(a, b)) {
      List<SocketChannel> sockets =
          ((SoftQueuePair) queuePair)
              .loop().selector().keys().stream()
                  .map(SelectionKey::channel)
                  .filter(SocketChannel.class::isInstance)
                  .map(SocketChannel.class::cast)
                  .toList();
      assertThat(sockets).hasSize(1);
      assertThat(sockets.getFirst().getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
    }
  }

  @Test
  void fileThatComesSlowlyHoldsUpOneLoopOnly() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    QueuePair slow = right.createQueuePair();
    TestNode.connect(left.createQueuePair(), slow);
    QueuePair reader = left.createQueuePair();
    TestNode.connect(reader, right.createQueuePair());
    MemoryRegion source = right.register(8, TestNode.ALL);
    MemoryRegion target = left.register(8, TestNode.ALL);
    reader.postSend(List.of(read(1, target, source, 8)));
    assertThat(await(1)).containsExactly(SUCCESS);
    CompletableFuture<Void> disk = new CompletableFuture<>();
    ((SoftQueuePair) slow).loop().execute(disk::join);
    try {
      reader.postSend(List.of(read(2, target, source, 8)));
      assertThat(await(1)).containsExactly(SUCCESS);
    } finally {
      disk.complete(null);
    }
  }

  @Test
  void connectionThatSpeaksAnotherProtocolIsClosed() throws Exception {
    QueuePair queuePair = left.createQueuePair();
    queuePair.toInit(TestNode.ALL);
    try (SocketChannel socket = dial(queuePair.address())) {
      socket.write(ByteBuffer.allocate(Hello.BYTES));
      assertEndOfStream(socket);
    }
  }

  private static void assertEndOfStream(SocketChannel socket) throws IOException {
    assertThat(socket.read(ByteBuffer.allocate(1))).isEqualTo(-1);
  }

  @Test
  void everyQueuePairHasATokenOfItsOwn() throws Exception {
    QueuePair a = left.createQueuePair();
    a.toInit(TestNode.ALL);
    byte[] first = a.address().providerData();
    a.toReset();
    a.toInit(TestNode.ALL);
    assertThat(a.address().providerData()).isNotEqualTo(first);
    assertThat(a.address().toString()).doesNotContain("providerData");
  }

  @Test
  void addressOfAnotherProviderIsRefused() throws Exception {
    QueuePair queuePair = left.createQueuePair();
    queuePair.toInit(TestNode.ALL);
    QueuePairAddress foreign =
        new QueuePairAddress(1, 1, 0, left.device.gid(), 4096, 16, new byte[0]);
    assertThatThrownBy(() -> queuePair.toRtr(foreign, ConnectionAttributes.DEFAULT))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("not one of this version of the software provider");
  }
}
