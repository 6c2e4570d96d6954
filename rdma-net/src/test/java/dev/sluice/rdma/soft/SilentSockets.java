// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Connections to a software device that send nothing. Each is renewed when the device closes it.
 */
final class SilentSockets implements AutoCloseable {
  private static final long DEADLINE_SECONDS = 60;

  private final InetSocketAddress device;
  private final List<InetAddress> sources;
  private final List<SocketChannel> sockets = new ArrayList<>();
  private final AtomicLong opened = new AtomicLong();
  private final Thread thread;
  private volatile boolean closed;
  private volatile IOException failure;

  /**
   * Begins to connect.
   *
   * @param sources local addresses, used in turn
   */
  SilentSockets(InetSocketAddress device, int count, List<InetAddress> sources) {
    this.device = device;
    this.sources = sources;
    thread = Thread.ofPlatform().daemon().name("strangers").start(() -> run(count));
  }

  private void run(int count) {
    try {
      while (!closed) {
        if (sockets.size() < count) {
          sockets.add(connect());
        }
        if (sockets.size() == count) {
          renew();
        }
      }
    } catch (IOException e) {
      failure = e;
    }
  }

  private SocketChannel connect() throws IOException {
    InetAddress source = sources.get((int) (opened.getAndIncrement() % sources.size()));
    SocketChannel socket = SocketChannel.open().bind(new InetSocketAddress(source, 0));
    socket.connect(device);
    socket.configureBlocking(false);
    return socket;
  }

  private void renew() throws IOException {
    ByteBuffer nothing = ByteBuffer.allocate(1);
    for (int i = 0; i < sockets.size() && !closed; i++) {
      if (isClosed(sockets.get(i), nothing)) {
        sockets.get(i).close();
        sockets.set(i, connect());
      }
    }
  }

  static boolean isClosed(SocketChannel socket, ByteBuffer nothing) {
    try {
      return socket.read(nothing) < 0;
    } catch (IOException e) {
      return true;
    }
  }

  /** Waits until this number of connections has been opened, renewed ones included. */
  void awaitOpened(long count) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
    while (opened.get() < count) {
      if (failure != null) {
        throw failure;
      }
      if (System.nanoTime() > deadline) {
        throw new AssertionError(opened + " strangers, and not " + count);
      }
      Thread.sleep(1);
    }
  }

  @Override
  public void close() throws IOException {
    closed = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    for (SocketChannel socket : sockets) {
      socket.close();
    }
  }
}
