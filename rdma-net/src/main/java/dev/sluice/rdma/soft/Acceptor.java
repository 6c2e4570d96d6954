package dev.sluice.rdma.soft;

import dev.sluice.rdma.leak.LeakTracker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listening socket of a software device: accepts connections and hands over those that have
 * said hello. On the event loop's thread, but for {@link #close}; closed by the device after the
 * loop has ended.
 */
final class Acceptor implements EventLoop.Handler, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Acceptor.class);
  private static final int BACKLOG = 1024;

  /** Connections that have not yet said who they are, at most. */
  private static final int MAX_STRANGERS = 1024;

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long HELLO_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final EventLoop loop;
  private final BiConsumer<Hello, SelectionKey> introduced;
  private final ServerSocketChannel server;
  private final LeakTracker leaks;
  private final LeakTracker.Handle leak;
  private final Set<Stranger> strangers = new HashSet<>();

  /** Out of file descriptors, most likely: trying again at once would be a busy loop. */
  private long pausedUntil = EventLoop.NEVER;

  /**
   * @param introduced takes over the channel of a connection that has said hello
   */
  Acceptor(
      EventLoop loop,
      InetAddress bindAddress,
      BiConsumer<Hello, SelectionKey> introduced,
      LeakTracker leaks)
      throws IOException {
    this.loop = loop;
    this.introduced = introduced;
    this.leaks = leaks;
    server = ServerSocketChannel.open();
    try {
      server.bind(new InetSocketAddress(bindAddress, 0), BACKLOG);
      server.configureBlocking(false);
      server.register(loop.selector(), SelectionKey.OP_ACCEPT, this);
    } catch (IOException e) {
      server.close();
      throw new IOException("cannot listen on " + bindAddress.getHostAddress() + ": " + e, e);
    }
    leak = leaks.opened("socket", server.getLocalAddress());
  }

  int port() {
    return server.socket().getLocalPort();
  }

  @Override
  public void ready(SelectionKey key) {
    try {
      for (SocketChannel channel = server.accept(); channel != null; channel = server.accept()) {
        welcome(channel);
      }
    } catch (IOException e) {
      LOG.warn("cannot accept connections at port {} for a while", port(), e);
      key.interestOps(0);
      pausedUntil = loop.now() + PAUSE_NANOS;
      loop.schedule(pausedUntil);
    }
  }

  private void welcome(SocketChannel channel) throws IOException {
    if (strangers.size() == MAX_STRANGERS) {
      LOG.warn("port {} has {} silent connections: closing another", port(), MAX_STRANGERS);
      channel.close();
      return;
    }
    channel.configureBlocking(false);
    Stranger stranger = new Stranger(channel, loop.now() + HELLO_TIMEOUT_NANOS);
    strangers.add(stranger);
    channel.register(loop.selector(), SelectionKey.OP_READ, stranger);
    loop.schedule(stranger.deadline);
  }

  /** Closes those that have not said hello in time; returns when to call it again. */
  long expire(long now) {
    if (now >= pausedUntil) {
      pausedUntil = EventLoop.NEVER;
      server.keyFor(loop.selector()).interestOps(SelectionKey.OP_ACCEPT);
    }
    long next = pausedUntil;
    for (Stranger stranger : List.copyOf(strangers)) {
      if (now >= stranger.deadline) {
        stranger.close();
      } else {
        next = Math.min(next, stranger.deadline);
      }
    }
    return next;
  }

  @Override
  public void close() {
    Sockets.close(server);
    List.copyOf(strangers).forEach(Stranger::close);
    leak.closed();
  }

  /** A connection that has not yet said hello. */
  private final class Stranger implements EventLoop.Handler {
    private final SocketChannel channel;
    private final long deadline;
    private final ByteBuffer hello = ByteBuffer.allocate(Hello.BYTES);
    private final LeakTracker.Handle leak = leaks.opened("socket", "accepted at port " + port());

    Stranger(SocketChannel channel, long deadline) {
      this.channel = channel;
      this.deadline = deadline;
    }

    @Override
    public void ready(SelectionKey key) {
      try {
        if (channel.read(hello) < 0) {
          close();
        } else if (!hello.hasRemaining()) {
          introduce(key);
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
      strangers.remove(this);
      leak.closed();
      introduced.accept(decoded, key);
    }

    private void close() {
      strangers.remove(this);
      Sockets.close(channel);
      leak.closed();
    }
  }
}
