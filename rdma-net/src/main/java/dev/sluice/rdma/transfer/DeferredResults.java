// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.TaskFailures;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers results that were decided under a lock, after the lock is released. Delivers in order
 * and in a loop, since a taker that causes further results must not recurse. Any thread; nothing to
 * close. Owners {@link #add} with their lock held, which fixes the order, and {@link #run} after
 * releasing it.
 *
 * @param <T> type of the results
 */
public final class DeferredResults<T> {
  private static final Logger LOG = LoggerFactory.getLogger(DeferredResults.class);

  private final Consumer<T> taker;
  private final Queue<T> queue = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean running = new AtomicBoolean();

  public DeferredResults(Consumer<T> taker) {
    this.taker = taker;
  }

  /** Queues a result for the next {@link #run}. Does not call the taker. */
  public void add(T decided) {
    queue.add(decided);
  }

  /** Delivers all queued results, unless another thread is delivering: then that one does. */
  public void run() {
    while (!queue.isEmpty() && running.compareAndSet(false, true)) {
      try {
        for (T next = queue.poll(); next != null; next = queue.poll()) {
          give(next);
        }
      } finally {
        running.set(false);
      }
    }
  }

  /** Delivers a result at once. The caller holds no lock. */
  public void give(T decided) {
    try {
      taker.accept(decided);
    } catch (RuntimeException | Error e) {
      TaskFailures.log(LOG, "Handing over a result failed", e);
    }
  }
}
