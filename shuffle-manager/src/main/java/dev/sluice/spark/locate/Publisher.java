// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.blocks.registry.MapOutputListener;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.TaskFailures;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the driver in batches which map outputs this executor has registered. The registry's
 * threads announce changes, and {@link LocatorClient} flushes on tasks' threads. Neither waits; the
 * thread {@code sluice-publisher} sends, from {@link #start} on. The executor's runtime starts and
 * closes it. An entry is added to the queue before {@code sends} is read, and {@code sends} is
 * cleared before the queue is: so no flush is left without an answer.
 *
 * <p>Correctness does not depend on it: readers ask this executor's block server for locations that
 * the driver lacks. Therefore changes that cannot be sent within the deadline are dropped.
 */
public final class Publisher implements MapOutputListener, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Publisher.class);

  /** Limit of a message: the driver handles the messages of all executors one by one. */
  private static final int MAX_BATCH = 1000;

  /** Bounds memory. Readers ask this executor for map outputs that find no room. */
  private static final int MAX_QUEUED = 100_000;

  /** Small map tasks on a core end within this time of each other, and so share a message. */
  private static final long LINGER_MS = 25;

  private static final Duration MAX_LINGER = Duration.ofMillis(500);

  /** First pause after a message that failed; each one is twice as long, up to the next limit. */
  static final long FIRST_PAUSE_MS = 100;

  private static final long LONGEST_PAUSE_MS = 5_000;

  /** Deadline of a message, after which its changes are dropped. */
  private static final Duration GIVE_UP_AFTER = Duration.ofSeconds(60);

  /**
   * Element of the queue: a change, or a request to send all changes before it.
   *
   * @param change null for a request
   * @param sent completes when the changes are sent; null for a change
   */
  private record Entry(@Nullable Published change, @Nullable CompletableFuture<Void> sent) {}

  /** Changes that are sent together, and the future of the request for that, if there is one. */
  private record Batch(List<Published> changes, CompletableFuture<Void> sent) {
    @Override
    public String toString() {
      return changes.size() + " changes of map outputs";
    }
  }

  private final DriverChannel driver;
  private final IntPredicate moreExpected;
  private final BlockingQueue<Entry> queue = new LinkedBlockingQueue<>(MAX_QUEUED);
  private final CompletableFuture<Void> announced = new CompletableFuture<>();

  /** Null before the start. Guarded by this. */
  private @Nullable Thread sender;

  /** Guarded by this. */
  private boolean closed;

  /** True from the start until the sender ends. */
  private volatile boolean sends;

  /**
   * @param moreExpected returns true if map tasks of the shuffle are writing on this executor:
   *     until none is, no reduce task waits for the changes so far
   */
  public Publisher(DriverChannel driver, IntPredicate moreExpected) {
    this.driver = driver;
    this.moreExpected = moreExpected;
  }

  /**
   * Makes the executor known to the driver, and publishes from then on. Idempotent.
   *
   * @return completes, always normally, when the driver knows the executor, or when that has failed
   */
  public synchronized CompletableFuture<Void> start(ExecutorEndpoint endpoint) {
    if (closed) {
      announced.complete(null);
    } else if (sender == null) {
      sends = true;
      sender = Thread.ofPlatform().daemon().name("sluice-publisher").start(() -> run(endpoint));
    }
    return announced.copy();
  }

  @Override
  public void registered(int shuffleId, MapOutputLocation location) {
    publish(new Published(shuffleId, location));
  }

  @Override
  public void withdrawn(int shuffleId) {
    publish(new Published(shuffleId, null));
  }

  private void publish(Published change) {
    if (!offer(new Entry(change, null))) {
      LOG.debug("A change to shuffle {} is not published: the queue is full", change.shuffleId());
    }
  }

  /**
   * Sends all queued changes at once, because reduce tasks begin, here or elsewhere.
   *
   * @return completes, always normally, when the driver knows the changes, or when they are
   *     dropped, as before {@link #start}
   */
  public CompletableFuture<Void> flush() {
    CompletableFuture<Void> sent = new CompletableFuture<>();
    if (!offer(new Entry(null, sent))) {
      sent.complete(null);
    }
    return sent;
  }

  private boolean offer(Entry entry) {
    boolean isTaken = queue.offer(entry);
    if (!sends) {
      dropAll();
    }
    return isTaken;
  }

  /** Drops the queue, since nothing is sent yet or any more. */
  private void dropAll() {
    for (Entry next = queue.poll(); next != null; next = queue.poll()) {
      if (next.sent() != null) {
        next.sent().complete(null);
      }
    }
  }

  private void run(ExecutorEndpoint endpoint) {
    try {
      send(endpoint, List.of());
      announced.complete(null);
      while (true) {
        Batch batch = nextBatch();
        try {
          if (!batch.changes().isEmpty()) {
            send(endpoint, batch.changes());
          }
        } catch (RuntimeException | Error e) { // The thread goes on with later map outputs.
          TaskFailures.log(LOG, "Publishing {} failed", batch, e);
        } finally {
          batch.sent().complete(null);
        }
      }
    } catch (InterruptedException e) {
      LOG.debug("The publisher is closed");
    } finally {
      sends = false;
      announced.complete(null);
      dropAll();
    }
  }

  /**
   * Returns the changes that came until reduce tasks began, or 25 ms passed without another one.
   * While map tasks of the same shuffles are writing, it waits for up to half a second, because
   * small tasks would cost a message each.
   */
  private Batch nextBatch() throws InterruptedException {
    List<Published> changes = new ArrayList<>();
    Entry next = queue.take();
    long deadlineNanos = System.nanoTime() + MAX_LINGER.toNanos();
    while (next != null || isMoreExpected(changes)) {
      if (next != null && next.sent() != null) {
        return new Batch(changes, next.sent());
      }
      if (next != null) {
        changes.add(next.change());
      }
      if (changes.size() == MAX_BATCH || System.nanoTime() - deadlineNanos >= 0) {
        break;
      }
      next = queue.poll(LINGER_MS, TimeUnit.MILLISECONDS);
    }
    return new Batch(changes, new CompletableFuture<>());
  }

  private boolean isMoreExpected(List<Published> changes) {
    return changes.stream().allMatch(change -> moreExpected.test(change.shuffleId()));
  }

  /** Sends a batch; repeats it until the deadline if the driver does not answer. */
  private void send(ExecutorEndpoint endpoint, List<Published> batch) throws InterruptedException {
    long started = System.nanoTime();
    for (long pauseMs = FIRST_PAUSE_MS; ; pauseMs = nextPauseMs(pauseMs)) {
      try {
        driver.ask(new Publish(endpoint, batch));
        return;
      } catch (IOException e) {
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        if (System.nanoTime() - started > GIVE_UP_AFTER.toNanos()) {
          LOG.warn(
              "Publishing {} changes of map outputs to the driver failed; readers will ask this"
                  + " executor for them: {}",
              batch.size(),
              e.getMessage());
          return;
        }
        Thread.sleep(pauseMs);
      }
    }
  }

  /** Limits the pause, so that a driver that answers again is told soon. */
  static long nextPauseMs(long pauseMs) {
    return Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (sender != null) {
      sender.interrupt();
    }
  }
}
