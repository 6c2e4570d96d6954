// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.fetch.ReadThreads.DeadlineTimer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Clock and timer that the test advances. */
final class FakeTimer implements DeadlineTimer {
  private record Timeout(long nanos, Runnable task, CompletableFuture<Void> future) {}

  private final List<Timeout> timeouts = new ArrayList<>();
  private final AtomicInteger looks = new AtomicInteger();
  private volatile long now = 1_000_000_000L;
  private Error defect;
  private boolean closed;

  @Override
  public long nanoTime() {
    looks.incrementAndGet();
    Error thrown = defect;
    defect = null;
    if (thrown != null) {
      throw thrown;
    }
    return now;
  }

  @Override
  public Future<?> schedule(Runnable task, long delayNanos) {
    if (closed) {
      throw new RejectedExecutionException("closed");
    }
    Timeout timeout = new Timeout(now + delayNanos, task, new CompletableFuture<>());
    timeouts.add(timeout);
    return timeout.future();
  }

  /** Throws this at the next call of {@link #nanoTime}. */
  void throwOnce(Error newDefect) {
    defect = newDefect;
  }

  /** Returns how often the clock was read. */
  int looks() {
    return looks.get();
  }

  /** Refuses tasks, as if the client were closed. */
  void close() {
    closed = true;
  }

  void advanceMs(long millis) {
    now += TimeUnit.MILLISECONDS.toNanos(millis);
    List<Timeout> due =
        timeouts.stream()
            .filter(timeout -> timeout.nanos() <= now && !timeout.future().isDone())
            .sorted(Comparator.comparingLong(Timeout::nanos))
            .toList();
    timeouts.removeAll(due);
    due.forEach(timeout -> timeout.task().run());
  }

  /** Returns the number of tasks that were neither run nor cancelled. */
  long scheduled() {
    return timeouts.stream().filter(timeout -> !timeout.future().isDone()).count();
  }
}
