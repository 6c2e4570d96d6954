// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.leak.LeakTracker;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The event loops of a software device. A queue pair stays with one loop, so that a file on a slow
 * disk delays the queue pairs of that loop only. Any thread; closed by the device.
 */
final class EventLoops implements AutoCloseable {
  /** A slow file blocks one loop; another one remains. */
  private static final int MIN_LOOPS = 2;

  /** The limit of Spark's own transfer, NettyUtils.MAX_DEFAULT_NETTY_THREADS. */
  private static final int MAX_LOOPS = 8;

  private final List<EventLoop> loops = new ArrayList<>();
  private final AtomicInteger given = new AtomicInteger();

  /**
   * @param timer of every loop
   * @param threads makes the threads of the loops
   */
  EventLoops(EventLoop.Timer timer, LeakTracker leaks, ThreadFactory threads) throws IOException {
    int processors = Runtime.getRuntime().availableProcessors();
    int count = Math.clamp(processors, MIN_LOOPS, MAX_LOOPS);
    try {
      for (int i = 0; i < count; i++) {
        loops.add(new EventLoop(threads, timer, leaks));
      }
    } catch (IOException | RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  void start() {
    loops.forEach(EventLoop::start);
  }

  /** The loop that also has the listening socket. */
  EventLoop first() {
    return loops.getFirst();
  }

  /** The loop for a new queue pair. */
  EventLoop next() {
    return loops.get(Math.floorMod(given.getAndIncrement(), loops.size()));
  }

  @Override
  public void close() {
    loops.forEach(EventLoop::close);
  }
}
