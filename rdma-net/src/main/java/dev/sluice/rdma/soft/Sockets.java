package dev.sluice.rdma.soft;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Common handling of sockets. */
final class Sockets {
  private static final Logger LOG = LoggerFactory.getLogger(Sockets.class);

  private Sockets() {}

  /** Small requests must not wait; buffer sizes are left to the kernel, which adapts them. */
  static void configure(SocketChannel channel) throws IOException {
    channel.configureBlocking(false);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
  }

  /** A socket of the selector that is being connected. */
  static SelectionKey connect(InetSocketAddress peer, Selector selector) throws IOException {
    SocketChannel channel = SocketChannel.open();
    try {
      configure(channel);
      channel.connect(peer);
      return channel.register(selector, 0);
    } catch (IOException e) {
      close(channel);
      throw e;
    }
  }

  /** Closes what nobody needs any more. */
  static void close(Closeable channel) {
    try {
      channel.close();
    } catch (IOException e) {
      LOG.debug("closing {} failed", channel, e);
    }
  }
}
