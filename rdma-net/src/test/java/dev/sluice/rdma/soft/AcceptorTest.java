// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.leak.LeakCheck;
import dev.sluice.rdma.soft.Link.Hello;
import dev.sluice.rdma.soft.SoftAddress.Token;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.DaemonThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests which connections are closed in favour of others, with an event loop that is turned by
 * hand.
 */
class AcceptorTest {
  private static final int ROOM = 1024;

  @RegisterExtension final LeakCheck leaks = new LeakCheck();
  private final List<SocketChannel> sockets = new ArrayList<>();
  private final List<SelectionKey> introduced = new ArrayList<>();
  private EventLoop loop;
  private Acceptor acceptor;

  @BeforeEach
  void open() throws IOException {
    SoftOptions options = SoftOptions.DEFAULT.with(o -> o.leaks = leaks.tracker());
    loop =
        new EventLoop(
            DaemonThreads.named("not started"), (_, now) -> acceptor.expire(now), leaks.tracker());
    acceptor =
        new Acceptor(loop, InetAddress.getLoopbackAddress(), options, (_, key) -> introduce(key));
  }

  /** Acts as a queue pair that does not know its peer yet. */
  private void introduce(SelectionKey key) {
    key.interestOps(0);
    introduced.add(key);
  }

  @AfterEach
  void close() throws IOException {
    acceptor.close();
    for (SelectionKey key : introduced) {
      key.channel().close();
    }
    loop.close();
    for (SocketChannel socket : sockets) {
      socket.close();
    }
  }

  private void connect() throws IOException {
    SocketChannel socket =
        SocketChannel.open(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), acceptor.port()));
    socket.configureBlocking(false);
    sockets.add(socket);
  }

  private void turn() throws IOException {
    loop.selector().selectNow(key -> ((EventLoop.Handler) key.attachment()).ready(key));
  }

  private void fill() throws IOException {
    while (sockets.size() < ROOM) {
      connect();
      turn();
    }
  }

  private boolean isClosed(int socket) {
    return SilentSockets.isClosed(sockets.get(socket), ByteBuffer.allocate(1));
  }

  @Test
  void theOldestIsClosedForANewOne() throws Exception {
    fill();
    connect();
    turn();
    assertThat(isClosed(0)).isTrue();
    assertThat(isClosed(1)).isFalse();
    assertThat(isClosed(ROOM)).isFalse();
  }

  @Test
  void connectionsThatCannotBeWatchedAreClosed() throws Exception {
    loop.close();
    connect();
    assertThatThrownBy(() -> acceptor.ready(null)).isInstanceOf(ClosedSelectorException.class);
    assertThat(isClosed(0)).isTrue();
  }

  @Test
  void theOldestWhoseHelloHasJustComeIsIntroduced() throws Exception {
    fill();
    Token token = Token.random(new SecureRandom());
    connect();
    sockets.getFirst().write(new Hello(1, token, 2, token).encode());
    turn();
    turn();
    assertThat(introduced).hasSize(1);
    for (int i = 0; i <= ROOM; i++) {
      assertThat(isClosed(i)).isFalse();
    }
  }
}
