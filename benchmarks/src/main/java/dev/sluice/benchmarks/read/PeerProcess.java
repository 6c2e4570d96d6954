package dev.sluice.benchmarks.read;

import dev.sluice.benchmarks.ChildProcess;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.List;

/**
 * The process that is READ from, as seen by the one that measures. Used by one thread, which closes
 * it.
 */
final class PeerProcess implements AutoCloseable {
  /** The peer's memory: the same bytes, registered in two protection domains. */
  record Memory(RemoteRegion forSeam, RemoteRegion forEndpoint) {}

  private final ChildProcess process;
  private final int port;

  private PeerProcess(ChildProcess process, int port) {
    this.process = process;
    this.port = port;
  }

  static PeerProcess start() throws IOException {
    ChildProcess process = ChildProcess.start(List.of(), PeerMain.class);
    return new PeerProcess(process, Integer.parseInt(process.readLine()));
  }

  Memory memory() throws IOException {
    try (SocketChannel channel = open();
        DataInputStream in = new DataInputStream(channel.socket().getInputStream())) {
      channel.socket().getOutputStream().write(ControlMessages.MEMORY);
      return new Memory(ControlMessages.readRegion(in), ControlMessages.readRegion(in));
    }
  }

  /**
   * The peer's queue pair that is connected to {@code local}.
   *
   * @param kind {@link ControlMessages#SEAM} or {@link ControlMessages#ENDPOINT}
   */
  QueuePairAddress connect(int kind, QueuePairAddress local) throws IOException {
    try (SocketChannel channel = open();
        DataOutputStream out = new DataOutputStream(channel.socket().getOutputStream());
        DataInputStream in = new DataInputStream(channel.socket().getInputStream())) {
      out.writeByte(kind);
      ControlMessages.write(out, local);
      out.flush();
      return ControlMessages.readAddress(in);
    }
  }

  /** A plain connection on which the peer answers {@link SocketPartner}'s requests. */
  SocketChannel connectSocket() throws IOException {
    SocketChannel channel = open();
    channel.socket().getOutputStream().write(ControlMessages.SOCKET);
    return channel;
  }

  private SocketChannel open() throws IOException {
    return SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
  }

  @Override
  public void close() {
    process.close();
  }
}
