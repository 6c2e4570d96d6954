// SPDX-License-Identifier: Apache-2.0
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

/** Common handling of sockets, for the {@link Acceptor} and connections. No state; any thread. */
final class Sockets {
  private static final Logger LOG = LoggerFactory.getLogger(Sockets.class);

  private Sockets() {}

  /** Sends small requests without delay. The kernel adapts the buffer sizes. */
  static void configure(SocketChannel channel) throws IOException {
    channel.configureBlocking(false);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
  }

  /** Begins to connect a socket, and registers it with the selector. */
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

  /** Closes a channel. Errors are logged only. */
  static void close(Closeable channel) {
    try {
      channel.close();
    } catch (IOException e) {
      LOG.debug("closing {} failed", channel, e);
    }
  }
}
