package dev.sluice.spark.locate;

import dev.sluice.blocks.MapOutputListener;
import dev.sluice.blocks.wire.MapOutputLocation;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the driver what this executor has registered, in batches. The registry's thread calls it
 * and never waits; one thread of its own sends. The executor's runtime closes it.
 *
 * <p>Nothing depends on it for correctness: readers ask this executor's block server for what they
 * do not find at the driver. So what cannot be sent within the deadline is dropped.
 */
public final class Publisher implements MapOutputListener, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Publisher.class);
  private static final int MAX_BATCH = 1000;
  private static final int MAX_QUEUED = 100_000;

  /** On a core small map tasks follow each other within it, and so share a message. */
  private static final long LINGER_MS = 25;

  private static final Duration MAX_LINGER = Duration.ofMillis(500);
  static final long FIRST_PAUSE_MS = 100;
  private static final long LONGEST_PAUSE_MS = 5_000;
  private static final Duration GIVE_UP_AFTER = Duration.ofSeconds(60);

  /**
   * What is in the queue.
   *
   * @param change null where what comes before it is to be sent
   * @param sent completes then; null for a change
   */
  private record Entry(Published change, CompletableFuture<Void> sent) {}

  /** What is sent together, and who waits for that, if anybody does. */
  private record Batch(List<Published> changes, CompletableFuture<Void> sent) {}

  private final DriverChannel driver;
  private final IntPredicate moreExpected;
  private final BlockingQueue<Entry> queue = new LinkedBlockingQueue<>(MAX_QUEUED);
  private Thread sender;
  private volatile boolean ended;

  /**
   * @param moreExpected whether map tasks of a shuffle are writing on this executor: until none is,
   *     no reduce task waits for what they have published so far
   */
  public Publisher(DriverChannel driver, IntPredicate moreExpected) {
    this.driver = driver;
    this.moreExpected = moreExpected;
  }

  /** Makes the executor known to the driver, and publishes from then on. */
  public synchronized void start(ExecutorEndpoint endpoint) {
    sender = Thread.ofPlatform().daemon().name("sluice-publisher").start(() -> run(endpoint));
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
      LOG.debug("A change to shuffle {} is not published", change.shuffleId());
    }
  }

  /**
   * Reduce tasks begin, here and elsewhere: what they look for waits for nothing more.
   *
   * @return completes when the driver knows what was registered before, or is not told: normally,
   *     and not before {@link #start}
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
    if (ended) {
      dropAll();
    }
    return isTaken;
  }

  /** Nothing is sent any more. */
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
      while (true) {
        Batch batch = nextBatch();
        try {
          if (!batch.changes().isEmpty()) {
            send(endpoint, batch.changes());
          }
        } finally {
          batch.sent().complete(null);
        }
      }
    } catch (InterruptedException e) {
      LOG.debug("The publisher is closed");
    } finally {
      ended = true;
      dropAll();
    }
  }

  /**
   * What came until reduce tasks began, or 25 ms passed without more; where map tasks of the same
   * shuffles are writing then, within up to half a second, since small tasks would cost a message
   * each.
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

  /** Sends, again and again until the deadline where the driver does not answer. */
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
              "{} changes to map outputs are not published; readers will ask for them: {}",
              batch.size(),
              e.getMessage());
          return;
        }
        Thread.sleep(pauseMs);
      }
    }
  }

  /** A driver that answers again is told soon, however long it did not. */
  static long nextPauseMs(long pauseMs) {
    return Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }

  @Override
  public synchronized void close() {
    if (sender != null) {
      sender.interrupt();
    }
  }
}
