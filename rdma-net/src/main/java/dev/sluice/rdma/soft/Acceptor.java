// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.RateLimitedLog;
import dev.sluice.rdma.leak.LeakTracker;
import dev.sluice.rdma.soft.Link.Hello;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listening socket of a software device. It accepts connections and hands over each one that
 * has said hello. The {@link SoftDevice} creates it. It runs on the first event loop's thread,
 * except for {@link #refuse} and {@link #close}. The device closes it after the loop has ended.
 */
final class Acceptor implements EventLoop.Handler, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Acceptor.class);
  private static final int BACKLOG = 1024;
  private static final int MAX_PORT = 0xFFFF;

  /** Limit of connections that have not yet said hello. */
  private static final int MAX_STRANGERS = 1024;

  /** Connections that are accepted before the existing ones get their turn. */
  private static final int MAX_ACCEPTED = 64;

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long HELLO_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final EventLoop loop;
  private final BiConsumer<Hello, SelectionKey> introduced;
  private final ServerSocketChannel server;
  private final LeakTracker leaks;
  private final LeakTracker.Handle leak;
  private final UnauthenticatedConnections<Stranger> strangers = new UnauthenticatedConnections<>();
  private final RateLimitedLog evictions = new RateLimitedLog();
  private final RateLimitedLog refusals = new RateLimitedLog();
  private final RateLimitedLog outages = new RateLimitedLog();

  /**
   * Time at which accepting resumes. Accepting most likely failed for lack of file descriptors, and
   * retrying at once would be a busy loop.
   */
  private long pausedUntil = EventLoop.NEVER;

  /**
   * @param introduced takes over the channel of a connection that has said hello
   */
  Acceptor(
      EventLoop loop,
      InetAddress bindAddress,
      SoftOptions options,
      BiConsumer<Hello, SelectionKey> introduced)
      throws IOException {
    this.loop = loop;
    this.introduced = introduced;
    leaks = options.leaks();
    server = ServerSocketChannel.open();
    try {
      bind(bindAddress, options.port(), options.portRetries());
      server.configureBlocking(false);
      server.register(loop.selector(), SelectionKey.OP_ACCEPT, this);
    } catch (IOException e) {
      server.close();
      throw new IOException("cannot listen on " + bindAddress.getHostAddress() + ": " + e, e);
    } catch (RuntimeException | Error e) {
      server.close();
      throw e;
    }
    leak = leaks.opened("socket", server.getLocalAddress());
  }

  private void bind(InetAddress address, int first, int retries) throws IOException {
    int last = first == 0 ? 0 : Math.min(MAX_PORT, first + retries);
    for (int port = first; ; port++) {
      try {
        server.bind(new InetSocketAddress(address, port), BACKLOG);
        return;
      } catch (BindException e) {
        if (port == last) {
          throw new IOException(
              "binding a port of " + first + " to " + last + " failed: " + e.getMessage(), e);
        }
      }
    }
  }

  int port() {
    return server.socket().getLocalPort();
  }

  @Override
  public void ready(SelectionKey key) {
    try {
      for (int accepted = 0; accepted < MAX_ACCEPTED; accepted++) {
        SocketChannel channel = server.accept();
        if (channel == null) {
          return;
        }
        welcome(channel);
      }
    } catch (IOException e) {
      long times = outages.add(loop.now());
      if (times > 0) {
        LOG.warn(
            "port {}: accepting connections failed, trying again after a pause; {} such failures"
                + " since this was last logged",
            port(),
            times,
            e);
      }
      key.interestOps(0);
      pausedUntil = loop.now() + PAUSE_NANOS;
      loop.schedule(pausedUntil);
    }
  }

  private void welcome(SocketChannel channel) throws IOException {
    Stranger stranger = new Stranger(channel, loop.now() + HELLO_TIMEOUT_NANOS);
    try {
      Sockets.configure(channel);
      if (strangers.size() == MAX_STRANGERS) {
        makeRoom();
      }
      channel.register(loop.selector(), SelectionKey.OP_READ, stranger);
    } catch (IOException | RuntimeException | Error e) {
      stranger.close();
      throw e;
    }
    strangers.add(stranger.address, stranger);
    loop.schedule(stranger.deadline);
  }

  /**
   * Closes the oldest connection of the address with the most, unless its hello has arrived. Peers
   * say hello at once, so the longest silent connection is the least likely to be one.
   */
  private void makeRoom() {
    Stranger silent = strangers.oldestOfTheMost();
    silent.ready(silent.channel.keyFor(loop.selector())); // its hello may have arrived meanwhile
    if (strangers.size() == MAX_STRANGERS) {
      silent.close();
      long times = evictions.add(loop.now());
      if (times > 0) {
        LOG.warn(
            "port {}: {} connections wait without having sent a hello, closing the oldest for new"
                + " ones; {} were closed since this was last logged, the last one came from {}",
            port(),
            MAX_STRANGERS,
            times,
            silent.address.getHostAddress());
      }
    }
  }

  /**
   * Closes a connection that has said hello but may not have the queue pair that it asks for. Any
   * thread.
   */
  void refuse(SelectionKey key, SoftQueuePair queuePair, String reason) {
    SocketChannel channel = (SocketChannel) key.channel();
    long times = refusals.add(loop.now());
    if (times > 0) {
      LOG.warn(
          "{}: refused a connection {} from {}; {} were refused since this was last logged",
          queuePair,
          reason,
          channel.socket().getRemoteSocketAddress(),
          times);
    }
    Sockets.close(channel);
  }

  /** Closes connections that have not said hello in time. Returns the time of the next call. */
  long expire(long now) {
    if (now >= pausedUntil) {
      pausedUntil = EventLoop.NEVER;
      server.keyFor(loop.selector()).interestOps(SelectionKey.OP_ACCEPT);
    }
    Stranger oldest = strangers.oldest();
    while (oldest != null && now >= oldest.deadline) {
      oldest.close();
      oldest = strangers.oldest();
    }
    return oldest == null ? pausedUntil : Math.min(pausedUntil, oldest.deadline);
  }

  @Override
  public void close() {
    Sockets.close(server);
    strangers.all().forEach(Stranger::close);
    leak.closed();
  }

  @Override
  public String toString() {
    return "acceptor of port " + port();
  }

  /** A connection that has not yet said hello. */
  private final class Stranger implements EventLoop.Handler {
    private final SocketChannel channel;
    private final InetAddress address;
    private final long deadline;
    private final ByteBuffer hello = ByteBuffer.allocate(Hello.BYTES);
    private final LeakTracker.Handle leak = leaks.opened("socket", "accepted at port " + port());

    /**
     * True after the hello or after closing. The selector may have found the channel ready before.
     */
    private boolean gone;

    Stranger(SocketChannel channel, long deadline) {
      this.channel = channel;
      this.address = channel.socket().getInetAddress();
      this.deadline = deadline;
    }

    @Override
    public void ready(SelectionKey ready) {
      if (gone) {
        return;
      }
      try {
        if (channel.read(hello) < 0) {
          close();
        } else if (!hello.hasRemaining()) {
          introduce(ready);
        }
      } catch (IOException e) {
        close();
      }
    }

    private void introduce(SelectionKey key) {
      Hello decoded = Hello.decode(hello.flip());
      if (decoded == null) {
        close();
        return;
      }
      leave();
      introduced.accept(decoded, key);
    }

    private void close() {
      leave();
      Sockets.close(channel);
    }

    private void leave() {
      gone = true;
      strangers.remove(address, this);
      leak.closed();
    }
  }
}
