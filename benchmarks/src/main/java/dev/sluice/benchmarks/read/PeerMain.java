package dev.sluice.benchmarks.read;

import dev.sluice.benchmarks.NetworkParts;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * The process that is READ from: one piece of memory, to be had by queue pairs and by a plain
 * socket. Says where as a {@link Peer}, and ends when its standard input does.
 */
final class PeerMain {
  private static final long MEMORY_BYTES = 64L << 20;
  private static final long POOL_BYTES = 4 << 20;

  private PeerMain() {}

  public static void main(String[] arguments) throws IOException {
    try (NetworkParts parts = new NetworkParts("peer", POOL_BYTES, MEMORY_BYTES);
        ServerSocketChannel server = ServerSocketChannel.open()) {
      parts.bytes().fill((byte) 0x5A);
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      ByteBuffer bytes = parts.bytes().asByteBuffer();
      Thread.ofPlatform().daemon().name("socket").start(() -> serve(server, bytes));
      int port = server.socket().getLocalPort();
      System.out.println(new Peer(parts.address(), parts.memory(), port).toLine());
      System.in.transferTo(OutputStream.nullOutputStream());
    }
  }

  private static void serve(ServerSocketChannel server, ByteBuffer memory) {
    try (SocketChannel channel = server.accept()) {
      new SocketResponder(channel, memory).run();
    } catch (IOException e) {
      throw new UncheckedIOException("serving the measuring process", e);
    }
  }
}
