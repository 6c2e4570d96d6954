// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.registry.MapOutputListener;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.TaskFailures;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the driver in batches which map outputs this executor has registered. The registry's
 * threads announce changes, and {@link LocatorClient} flushes on tasks' threads. Neither waits, and
 * no change wakes a thread: the given scheduler looks for changes every 25 ms while there are any,
 * and sends them. Turns follow each other, so messages keep the order of the changes. The
 * executor's runtime starts and closes it, and stops the scheduler later. The lock of this object
 * guards all fields that change. No thread holds it while it asks the driver.
 *
 * <p>Correctness does not depend on it: readers ask this executor's block server for locations that
 * the driver lacks. Therefore changes that cannot be sent within the deadline are dropped.
 */
public final class Publisher implements MapOutputListener, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Publisher.class);

  /** Limit of a message: the driver handles the messages of all executors one by one. */
  private static final int MAX_BATCH = 1000;

  /** Bounds memory. Readers ask this executor for map outputs that find no room. */
  private static final int MAX_WAITING = 100_000;

  /** Small map tasks on a core end within this time of each other, and so share a message. */
  private static final long LINGER_MS = 25;

  private static final long MAX_LINGER_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** First pause after a message that failed; each one is twice as long, up to the next limit. */
  static final long FIRST_PAUSE_MS = 100;

  private static final long LONGEST_PAUSE_MS = 5_000;

  /** Deadline of a message, after which its changes are dropped. */
  private static final long GIVE_UP_NANOS = TimeUnit.SECONDS.toNanos(60);

  private enum State {
    /** Not started yet, or closed: changes are dropped. */
    OFF,
    /** No change waits, and no message is under way. */
    IDLE,
    /** Changes wait for others to share their message; {@link #turn} is scheduled. */
    LINGERING,
    /** A message is under way. Later changes wait for the next one. */
    SENDING
  }

  /**
   * A message, which is repeated until the driver has answered.
   *
   * @param sent completes then, or when the changes are dropped
   */
  private record Batch(List<Published> changes, CompletableFuture<Void> sent, long startNanos) {}

  private final DriverChannel driver;
  private final IntPredicate moreExpected;
  private final ScheduledExecutorService threads;
  private final CompletableFuture<Void> announced = new CompletableFuture<>();

  private State state = State.OFF;
  private boolean closed;

  /** Null before the start. */
  private @Nullable ExecutorEndpoint endpoint;

  /** Changes that wait for the next message. */
  private List<Published> waiting = new ArrayList<>();

  /** Completes when the waiting changes are sent or dropped. */
  private CompletableFuture<Void> sent = new CompletableFuture<>();

  /** True if the waiting changes are to be sent at once. */
  private boolean hurries;

  /** Number of waiting changes at the last look. */
  private int looked;

  /** Time when the waiting changes began to wait for others. */
  private long firstNanos;

  /** Number of the turn that was scheduled last. Earlier ones have nothing to do any more. */
  private int lastTurn;

  /**
   * @param moreExpected returns true if map tasks of the shuffle are writing on this executor:
   *     until none is, no reduce task waits for the changes so far
   * @param threads runs questions to the driver, which block
   */
  public Publisher(
      DriverChannel driver, IntPredicate moreExpected, ScheduledExecutorService threads) {
    this.driver = driver;
    this.moreExpected = moreExpected;
    this.threads = threads;
  }

  /**
   * Makes the executor known to the driver, and publishes from then on. Idempotent.
   *
   * @return completes, always normally, when the driver knows the executor, or when that has failed
   */
  public synchronized CompletableFuture<Void> start(ExecutorEndpoint self) {
    if (closed) {
      announced.complete(null);
    } else if (endpoint == null) {
      endpoint = self;
      state = State.SENDING;
      Batch announcement = new Batch(List.of(), announced, System.nanoTime());
      threads.execute(() -> send(announcement, FIRST_PAUSE_MS));
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

  private synchronized void publish(Published change) {
    if (state == State.OFF) {
      return;
    }
    if (waiting.size() == MAX_WAITING) {
      LOG.debug("A change to shuffle {} is not published: too many wait", change.shuffleId());
      return;
    }
    waiting.add(change);
    if (state == State.IDLE) {
      linger();
    }
  }

  /**
   * Sends all waiting changes at once, because reduce tasks begin, here or elsewhere.
   *
   * @return completes, always normally, when the driver knows the changes, or when they are
   *     dropped, as before {@link #start}
   */
  public synchronized CompletableFuture<Void> flush() {
    if (state == State.OFF || state == State.IDLE) {
      return CompletableFuture.completedFuture(null);
    }
    hurries = true;
    if (state == State.LINGERING) {
      turnAfter(0);
    }
    return sent.copy();
  }

  /** Schedules a look at the waiting changes, now or soon. The caller holds the lock. */
  private void linger() {
    looked = waiting.size();
    firstNanos = System.nanoTime();
    turnAfter(hurries ? 0 : LINGER_MS);
  }

  /** Schedules {@link #turn}. The caller holds the lock. */
  private void turnAfter(long ms) {
    int number = ++lastTurn;
    threads.schedule(() -> turn(number), ms, TimeUnit.MILLISECONDS);
    state = State.LINGERING;
  }

  /** Sends the waiting changes if they need not wait for others. */
  private void turn(int number) {
    boolean isDue = true;
    try {
      isDue = isDue(number);
    } catch (RuntimeException | Error e) { // The changes must be sent.
      TaskFailures.log(LOG, "Looking for more changes of map outputs failed", e);
    }
    Batch batch;
    synchronized (this) {
      if (state != State.LINGERING || number != lastTurn) {
        return; // It was closed, or a flush came meanwhile.
      }
      state = State.IDLE; // If memory runs out now, the next change lingers again.
      if (!isDue) {
        turnAfter(LINGER_MS);
        return;
      }
      batch = nextBatch();
      state = State.SENDING;
    }
    send(batch, FIRST_PAUSE_MS);
  }

  /**
   * Returns true if reduce tasks have begun, or 25 ms have passed without another change. While map
   * tasks of the same shuffles are writing, this takes up to half a second: small tasks would cost
   * a message each.
   */
  private boolean isDue(int number) {
    List<Published> quiet;
    synchronized (this) {
      if (number != lastTurn
          || hurries
          || waiting.size() >= MAX_BATCH
          || System.nanoTime() - firstNanos >= MAX_LINGER_NANOS) {
        return true;
      }
      if (looked < waiting.size()) {
        looked = waiting.size();
        return false;
      }
      quiet = List.copyOf(waiting);
    }
    return !quiet.stream().allMatch(change -> moreExpected.test(change.shuffleId()));
  }

  /**
   * Takes as many waiting changes as fit a message. Flushes wait for the message with the last
   * change. The caller holds the lock.
   */
  private Batch nextBatch() {
    List<Published> first = waiting;
    CompletableFuture<Void> taken = new CompletableFuture<>();
    if (waiting.size() <= MAX_BATCH) {
      waiting = new ArrayList<>();
      taken = sent;
      sent = new CompletableFuture<>();
      hurries = false;
    } else {
      first = List.copyOf(waiting.subList(0, MAX_BATCH));
      waiting = new ArrayList<>(waiting.subList(MAX_BATCH, waiting.size()));
    }
    return new Batch(first, taken, System.nanoTime());
  }

  /** Sends a batch; repeats it until the deadline if the driver does not answer. */
  private void send(Batch batch, long pauseMs) {
    try {
      driver.ask(new Publish(requireNonNull(endpoint), batch.changes()));
    } catch (IOException e) {
      if (System.nanoTime() - batch.startNanos() <= GIVE_UP_NANOS) {
        sendAgain(batch, pauseMs);
        return;
      }
      LOG.warn(
          "Publishing {} changes of map outputs to the driver failed; readers will ask this"
              + " executor for them: {}",
          batch.changes().size(),
          e.getMessage());
    } catch (RuntimeException | Error e) { // Later map outputs are still published.
      TaskFailures.log(
          LOG, "Publishing " + batch.changes().size() + " changes of map outputs failed", e);
    }
    batch.sent().complete(null);
    goOn();
  }

  private synchronized void sendAgain(Batch batch, long pauseMs) {
    if (closed) {
      batch.sent().complete(null);
    } else {
      threads.schedule(() -> send(batch, nextPauseMs(pauseMs)), pauseMs, TimeUnit.MILLISECONDS);
    }
  }

  private synchronized void goOn() {
    if (closed) {
      return;
    }
    state = State.IDLE;
    if (waiting.isEmpty()) {
      answerFlushes();
    } else {
      linger();
    }
  }

  private void answerFlushes() {
    hurries = false;
    sent.complete(null);
    sent = new CompletableFuture<>();
  }

  /** Limits the pause, so that a driver that answers again is told soon. */
  static long nextPauseMs(long pauseMs) {
    return Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }

  /** Drops the waiting changes. A message under way ends with the scheduler. */
  @Override
  public synchronized void close() {
    closed = true;
    state = State.OFF;
    waiting.clear();
    announced.complete(null);
    answerFlushes();
  }
}
