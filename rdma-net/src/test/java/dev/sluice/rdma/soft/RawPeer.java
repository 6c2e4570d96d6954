// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.soft.Link.Hello;
import dev.sluice.rdma.soft.SoftAddress.Token;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;

/** A peer of a queue pair that a test plays by hand with a socket and frames. */
final class RawPeer implements AutoCloseable {
  private static final int QP_NUMBER = 7;
  private static final EnumSet<AccessFlag> REMOTE_READ = EnumSet.of(AccessFlag.REMOTE_READ);

  private final SocketChannel socket;

  private RawPeer(SocketChannel socket) {
    this.socket = socket;
  }

  /**
   * Brings a queue pair from RESET to RTS, connected to a peer that serves this many READs at a
   * time.
   */
  static RawPeer connectTo(
      QueuePair queuePair, int maxDestRdAtomic, ConnectionAttributes attributes)
      throws IOException {
    queuePair.toInit(REMOTE_READ);
    QueuePairAddress address = queuePair.address();
    SoftAddress its = SoftAddress.of(address);
    Token token = Token.random(new SecureRandom());
    // Uses the lower port, so that this side connects.
    byte[] own = new SoftAddress(address.gid(), 1, QP_NUMBER, token).toProviderData();
    queuePair.toRtr(
        new QueuePairAddress(QP_NUMBER, 0, 0, address.gid(), 4096, maxDestRdAtomic, own),
        attributes);
    queuePair.toRts();
    SocketChannel socket =
        SocketChannel.open(new InetSocketAddress(address.gid().toInetAddress(), its.port()));
    socket.write(new Hello(QP_NUMBER, token, address.qpNumber(), its.token()).encode());
    return new RawPeer(socket);
  }

  /** Writes a request for all bytes of a region. */
  static void putRead(ByteBuffer out, RemoteRegion region) {
    FrameHeader.encodeRead(out, Math.toIntExact(region.length()), region.address(), region.rkey());
  }

  void send(ByteBuffer frames) throws IOException {
    while (frames.hasRemaining()) {
      socket.write(frames);
    }
  }

  /** Sends pieces of this size while the connection takes them, then ends the output. */
  void sendWhatItTakes(ByteBuffer bytes, int piece) {
    try {
      while (bytes.hasRemaining()) {
        ByteBuffer next = bytes.slice(bytes.position(), Math.min(piece, bytes.remaining()));
        bytes.position(bytes.position() + next.remaining());
        send(next);
      }
      socket.shutdownOutput();
    } catch (IOException e) {
      // The queue pair closed the connection in the middle.
    }
  }

  /** Receives exactly this number of bytes. */
  ByteBuffer receive(int bytes) throws IOException {
    ByteBuffer in = ByteBuffer.allocate(bytes);
    while (in.hasRemaining()) {
      assertThat(socket.read(in)).as("received after %d bytes", in.position()).isPositive();
    }
    return in.flip();
  }

  /** Asserts that nothing more has arrived so far. */
  void assertSilent() throws IOException {
    socket.configureBlocking(false);
    assertThat(socket.read(ByteBuffer.allocate(1))).isZero();
    socket.configureBlocking(true);
  }

  /** Drops the bytes that still arrive, and asserts that the connection is then closed. */
  void assertClosed() throws IOException {
    socket.configureBlocking(false);
    ByteBuffer rest = ByteBuffer.allocate(1 << 16);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (isOpen(rest.clear())) {
      assertThat(System.nanoTime()).as("still open").isLessThan(deadline);
      Thread.onSpinWait();
    }
  }

  private boolean isOpen(ByteBuffer rest) {
    try {
      return socket.read(rest) >= 0;
    } catch (IOException e) {
      return false; // bytes that the other side did not read turn its end into a reset
    }
  }

  FrameHeader receiveHeader() throws IOException {
    FrameHeader header = new FrameHeader();
    header.decode(receive(FrameHeader.BYTES));
    return header;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
