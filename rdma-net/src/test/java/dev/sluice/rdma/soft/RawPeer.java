package dev.sluice.rdma.soft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.EnumSet;

/** A peer of a queue pair that a test plays by hand: a socket and frames. */
final class RawPeer implements AutoCloseable {
  private static final int QP_NUMBER = 7;
  private static final EnumSet<AccessFlag> REMOTE_READ = EnumSet.of(AccessFlag.REMOTE_READ);

  private final SocketChannel socket;

  private RawPeer(SocketChannel socket) {
    this.socket = socket;
  }

  /** Brings a queue pair from RESET to RTS, connected to a peer that serves so many READs. */
  static RawPeer connectTo(
      QueuePair queuePair, int maxDestRdAtomic, ConnectionAttributes attributes)
      throws IOException {
    queuePair.toInit(REMOTE_READ);
    QueuePairAddress address = queuePair.address();
    SoftAddress its = SoftAddress.of(address);
    Token token = Token.random(new SecureRandom());
    // The lower port, so that this side is the one that connects.
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

  /** A request for all of a region's bytes. */
  static void putRead(ByteBuffer out, RemoteRegion region) {
    FrameHeader.encode(
        out,
        FrameType.READ,
        FrameHeader.FIRST | FrameHeader.LAST,
        Math.toIntExact(region.length()),
        region.address(),
        region.rkey(),
        0,
        0,
        0);
  }

  void send(ByteBuffer frames) throws IOException {
    while (frames.hasRemaining()) {
      socket.write(frames);
    }
  }

  /** The next bytes, all of them. */
  ByteBuffer receive(int bytes) throws IOException {
    ByteBuffer in = ByteBuffer.allocate(bytes);
    while (in.hasRemaining()) {
      assertThat(socket.read(in)).as("received after %d bytes", in.position()).isPositive();
    }
    return in.flip();
  }

  /** Nothing more has come so far. */
  void assertSilent() throws IOException {
    socket.configureBlocking(false);
    assertThat(socket.read(ByteBuffer.allocate(1))).isZero();
    socket.configureBlocking(true);
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
