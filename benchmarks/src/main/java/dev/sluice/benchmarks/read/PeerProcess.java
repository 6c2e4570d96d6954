package dev.sluice.benchmarks.read;

import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/**
 * The process that is READ from, as seen by the one that measures. Used by one thread, which closes
 * it; the process ends when its standard input does.
 */
final class PeerProcess implements AutoCloseable {
  private static final long END_TIMEOUT_S = 10;

  /** The peer's memory: the same bytes, registered in two protection domains. */
  record Memory(RemoteRegion forSeam, RemoteRegion forEndpoint) {}

  private final Process process;
  private final int port;

  private PeerProcess(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  static PeerProcess start() throws IOException {
    Process process =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                PeerMain.class.getName())
            .redirectError(Redirect.INHERIT)
            .start();
    @SuppressWarnings("resource") // closed with the process
    BufferedReader out = process.inputReader();
    String port = out.readLine();
    if (port == null) {
      throw new IOException("the peer process ended before it was ready");
    }
    return new PeerProcess(process, Integer.parseInt(port));
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
  public void close() throws IOException {
    process.getOutputStream().close();
    try {
      if (!process.waitFor(END_TIMEOUT_S, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
