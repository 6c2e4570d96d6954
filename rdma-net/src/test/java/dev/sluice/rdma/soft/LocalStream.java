// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Connected pairs of sockets, one end for a queue pair and one for its peer. The test moves both
 * ends on its own thread. Lives as long as the process.
 */
final class LocalStream {
  private final Selector selector;
  private final ServerSocketChannel server;
  private final UnixDomainSocketAddress address;
  private final ByteBuffer buffer = ByteBuffer.allocate(64 << 10);

  LocalStream() throws IOException {
    Path directory = Files.createTempDirectory("sluice-fuzz");
    Path path = directory.resolve("socket");
    address = UnixDomainSocketAddress.of(path);
    selector = Selector.open();
    server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(address);
    path.toFile().deleteOnExit();
    directory.toFile().deleteOnExit();
  }

  Ends open() throws IOException {
    SocketChannel peer = SocketChannel.open(address);
    peer.configureBlocking(false);
    SocketChannel own = server.accept();
    own.configureBlocking(false);
    return new Ends(peer, own, own.register(selector, SelectionKey.OP_READ));
  }

  /** Runs the work of the queue pair for which the selector reports its socket as ready. */
  void turn() {
    try {
      selector.selectNow(key -> ((EventLoop.Handler) key.attachment()).ready(key));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A connected pair. */
  final class Ends implements AutoCloseable {
    private final SocketChannel peer;
    private final SocketChannel own;
    private final SelectionKey key;
    private ByteBuffer received = ByteBuffer.allocate(1024);

    private Ends(SocketChannel peer, SocketChannel own, SelectionKey key) {
      this.peer = peer;
      this.own = own;
      this.key = key;
    }

    SelectionKey key() {
      return key;
    }

    boolean isClosed() {
      return !own.isOpen();
    }

    /** Sends as the peer, unless the queue pair has closed the connection. */
    void write(ByteBuffer bytes) throws IOException {
      try {
        while (bytes.hasRemaining() && own.isOpen()) {
          if (peer.write(bytes) == 0) {
            turn();
            receive();
          }
        }
      } catch (IOException e) {
        if (own.isOpen()) {
          throw e;
        }
      }
    }

    void end() throws IOException {
      if (own.isOpen()) {
        peer.shutdownOutput();
      }
    }

    /** Receives as the peer. */
    void receive() throws IOException {
      while (peer.read(buffer.clear()) > 0) {
        buffer.flip();
        if (received.remaining() < buffer.remaining()) {
          int bytes = received.position() + buffer.remaining();
          received = ByteBuffer.allocate(2 * bytes).put(received.flip());
        }
        received.put(buffer);
      }
    }

    /** All bytes that the peer has received. */
    ByteBuffer received() {
      return received.flip();
    }

    @Override
    public void close() throws IOException {
      peer.close();
      own.close();
      turn(); // the selector forgets the socket
    }
  }
}
