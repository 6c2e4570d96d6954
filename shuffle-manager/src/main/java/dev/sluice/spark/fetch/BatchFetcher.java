// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.blocks.wire.ControlMessages.Touch;
import dev.sluice.rdma.TaskFailures;
import dev.sluice.spark.fetch.RemoteBatches.Arrival;
import dev.sluice.spark.table.Span;
import dev.sluice.spark.transport.FallbackReason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches a reader's blocks of other executors in batches, within the reader's part of the task's
 * limit of bytes. {@link RdmaBlockStoreClient#gather} opens one for each reader. A group is one
 * executor's blocks. Released batches make room for more. The reader's thread starts groups, and
 * takes and verifies batches; any thread answers. The lock is held for operations on queues only. A
 * group's lock and that of {@link LateReads} may be taken inside it. Never READ, release memory or
 * block while holding it.
 *
 * <p>It owns every batch until the batch is released. The reader closes it after reading
 * everything. {@link TaskReads} closes it when the task ends, perhaps on another thread and perhaps
 * before the start. Closing wins in any order: it releases all batches, including those that the
 * reader has. It drops later arrivals and refuses to start or poll.
 *
 * <p>Each step has one answer, the first. The waiting reader checks the deadlines itself. No other
 * thread waits, and no timer wakes for each batch.
 */
final class BatchFetcher implements RemoteBatches {
  /** A step that the reader waits for: locating or a batch. Called with the lock held. */
  interface Step {
    /** Returns the deadline of the step. */
    long deadlineNanos();

    /**
     * Leaves the step's blocks to Spark, whose own fetch reports and counts the failure.
     *
     * @param reason LATE if Spark has to fetch the blocks without a READ
     */
    void leave(FallbackReason reason);

    /** Returns the bytes that the step takes of the limit. */
    int bytes();

    /** Returns the bytes of the step's blocks, as Spark estimates them. */
    long estimatedBytes();

    /** Returns true if Spark's transport should fetch the blocks now, as {@link LateReads} says. */
    boolean isLate();
  }

  /** An entry of the reader's queue: a batch, or an iterator of Spark's that has an answer. */
  sealed interface Arrived permits TaskBatchRead, SparkBlocks {}

  private static final Logger LOG = LoggerFactory.getLogger(BatchFetcher.class);

  /** Delay of a touch: touches are at most {@link Touch#INTERVAL_MS} and this apart. */
  private static final long TOUCH_NANOS = TimeUnit.MILLISECONDS.toNanos(Touch.INTERVAL_MS / 4);

  private final FetchContext path;
  private final TaskReads task;
  private final Consumer<FetchedBatch> unread;

  // Guarded by this.
  private final FetchQueue waiting;
  private final Set<Step> underWay = new LinkedHashSet<>();
  private final Queue<Arrived> arrived = new ArrayDeque<>();

  /** Batches that the reader has. */
  private final Set<FetchedBatch> taken = new HashSet<>();

  /** True while a thread starts batches. */
  private boolean requesting;

  /** Null while no batch waits. */
  private @Nullable Future<?> touching;

  /** Time at which the reader last looked for late READs. */
  private long lookedNanos;

  /** True if blocks may have been left to Spark since the reader last waited. */
  private boolean left;

  private boolean closed;

  private BatchFetcher(FetchContext path, TaskReads task, Consumer<FetchedBatch> unread) {
    this.path = path;
    this.task = task;
    this.unread = unread;
    this.waiting = new FetchQueue(task);
    this.lookedNanos = path.timer().nanoTime();
  }

  /**
   * Opens a batch fetch as {@link RdmaBlockStoreClient#gather} does.
   *
   * @throws IllegalStateException if the task has ended
   */
  static BatchFetcher open(FetchContext path, TaskReads task, Consumer<FetchedBatch> unread) {
    BatchFetcher opened = new BatchFetcher(path, task, unread);
    task.add(opened);
    return opened;
  }

  TaskReads task() {
    return task;
  }

  static IllegalStateException taskHasEnded() {
    return new IllegalStateException("the task has ended");
  }

  /**
   * Checks that the task has not ended.
   *
   * @throws IllegalStateException if it has
   */
  synchronized void requireOpen() {
    if (closed) {
      throw taskHasEnded();
    }
  }

  @Override
  public boolean start(ExecutorBlocks group) {
    return new GroupFetch(path, this, group).start();
  }

  /** Takes a step that starts now. */
  synchronized void begin(Step step) {
    requireOpen();
    underWay.add(step);
    waiting.enter();
  }

  /** Takes the batches of a group that is located. */
  void located(GroupFetch step, List<TaskBatchRead> batches) {
    synchronized (this) {
      if (!underWay.remove(step)) {
        return;
      }
      waiting.add(step.group(), batches);
      consumed(0);
      left = true;
      notifyAll();
    }
    request();
    touchLater();
  }

  /**
   * Schedules a touch for waiting batches. A task may take minutes to consume its batches. Without
   * a touch, peers would consider the waiting batches idle and deregister them. A READ of such a
   * batch would then break the queue pair that all readers of that peer share.
   */
  private synchronized void touchLater() {
    if (touching == null && !waiting.isEmpty()) {
      touching = path.timer().schedule(this::touchWaiting, TOUCH_NANOS);
    }
  }

  private void touchWaiting() {
    List<TaskBatchRead> firsts;
    synchronized (this) {
      touching = null;
      firsts = waiting.firsts();
    }
    firsts.forEach(TaskBatchRead::touch);
    touchLater();
  }

  /** Ends a step after a defect. */
  void failed(Step step, Throwable e) {
    LOG.error("Gathering {} failed unexpectedly", step, e);
    giveUp(step, FallbackReason.TRANSPORT);
  }

  /**
   * Starts batches while there is room. One thread at a time loops, as a batch may fail at once.
   */
  private void request() {
    synchronized (this) {
      if (requesting) {
        return;
      }
      requesting = true;
    }
    try {
      for (TaskBatchRead next = nextRequest(); next != null; next = nextRequest()) {
        start(next);
      }
    } catch (
        Throwable e) { // Errors too: the waiting task tries again, and gets the exception itself.
      synchronized (this) {
        requesting = false;
        left = true;
        notifyAll();
      }
      throw e;
    }
  }

  private void start(TaskBatchRead batch) {
    try {
      if (batch.isAvoided()) {
        giveUp(batch, FallbackReason.LATE);
      } else {
        batch.start();
      }
    } catch (Throwable e) { // Errors too: the other batches still have to start.
      failed(batch, e);
    }
  }

  /** Takes the next batch to start. If this throws, the batch still waits. */
  private synchronized @Nullable TaskBatchRead nextRequest() {
    TaskBatchRead next = waiting.peek(!underWay.isEmpty() || !arrived.isEmpty());
    if (next == null) {
      requesting = false;
      return null;
    }
    next.begin();
    underWay.add(next);
    return waiting.poll();
  }

  /** Returns true if the reader still waits for an answer of the step. */
  synchronized boolean awaits(Step step) {
    return underWay.contains(step);
  }

  /**
   * Takes a batch's answer.
   *
   * @param there blocks of the batch that have arrived
   * @return false if there was an earlier answer; the batch must not be delivered then
   */
  boolean arrived(TaskBatchRead read, Span there) {
    List<TaskBatchRead> rest;
    try {
      rest = read.rest(there);
    } catch (RuntimeException | Error e) {
      failed(read, e);
      return false;
    }
    synchronized (this) {
      if (!ended(read)) {
        return false;
      }
      read.there(there);
      waiting.add(read.group(), rest);
      if (there.bytes() > 0) {
        arrived.add(read);
      } else {
        consumed(read.bytes());
      }
      left |= read.isStaged();
      notifyAll();
    }
    request();
    return true;
  }

  /**
   * Ends a step. Called with the lock held.
   *
   * @return false if the step has ended before
   */
  private boolean ended(Step step) {
    boolean first = underWay.remove(step);
    if (first && step instanceof TaskBatchRead batch) {
      waiting.ended(batch);
    }
    return first;
  }

  /** Ends a step that failed, unless it has its answer. Its blocks are left to Spark. */
  void giveUp(Step step, FallbackReason reason) {
    synchronized (this) {
      if (!ended(step)) {
        return;
      }
      leave(step, reason);
    }
    LOG.debug("Leaving {} to Spark's own transfer: {}", step, reason);
    request();
  }

  /** Leaves a batch to Spark, as its bytes differ from the written ones. */
  void wrong(TaskBatchRead read) {
    synchronized (this) {
      leave(read, FallbackReason.CHECKSUM);
    }
    request();
  }

  /** Called with the lock held. */
  private void leave(Step step, FallbackReason reason) {
    step.leave(reason);
    consumed(step.bytes());
    left = true;
    notifyAll();
  }

  /** Notes that a batch was released. */
  void released(TaskBatchRead read, FetchedBatch batch) {
    synchronized (this) {
      taken.remove(batch);
      consumed(read.bytes());
    }
    request();
  }

  /** Called with the lock held. */
  private void consumed(int batchBytes) {
    waiting.released(batchBytes);
    if (waiting.isReleased() && !isMoreToCome()) {
      waiting.leave();
    }
  }

  @Override
  public synchronized void answered(SparkBlocks blocks) {
    if (!closed) {
      arrived.add(blocks);
      notifyAll();
    }
  }

  /** Verifies on this thread, which waits for the batch anyway. No other thread has to run. */
  @Override
  public @Nullable Arrival poll() {
    Arrival arrival = null;
    Arrived next = nextArrived();
    while (arrival == null && next != null) {
      arrival =
          switch (next) {
            case TaskBatchRead read -> taken(read.verify());
            case SparkBlocks blocks -> blocks;
          };
      next = arrival == null ? nextArrived() : null;
    }
    return arrival;
  }

  private synchronized @Nullable Arrived nextArrived() {
    requireOpen();
    return arrived.poll();
  }

  /**
   * Gives the batch to the reader, until it is released or this is closed.
   *
   * @param batch null for none
   */
  private @Nullable FetchedBatch taken(@Nullable FetchedBatch batch) {
    if (batch == null) {
      return null;
    }
    synchronized (this) {
      if (!closed) {
        taken.add(batch);
        return batch;
      }
    }
    batch.release();
    unread.accept(batch);
    throw taskHasEnded();
  }

  @Override
  public boolean await(long room) throws InterruptedException {
    leaveLateReads(room);
    request();
    awaitStep().forEach(step -> giveUp(step, FallbackReason.DEADLINE));
    synchronized (this) {
      requireOpen();
      return !arrived.isEmpty() || isMoreToCome();
    }
  }

  @Override
  public synchronized void awaitAnswer() throws InterruptedException {
    if (arrived.isEmpty() && !closed) {
      TimeUnit.MILLISECONDS.timedWait(this, path.options().readTimeoutMs());
    }
  }

  /**
   * Leaves blocks to Spark whose READs are late, within the limits of {@link LateReads}. Also
   * leaves batches whose READs would be late and have not begun. A task that many batches reach one
   * by one does not look at all of them each time.
   *
   * @param room bytes that Spark may fetch
   */
  void leaveLateReads(long room) {
    long now = path.timer().nanoTime();
    synchronized (this) {
      if (now - lookedNanos < LateReads.PAUSE_NANOS) {
        return;
      }
      lookedNanos = now;
      long free = room;
      for (Step step : List.copyOf(underWay)) {
        if (step.estimatedBytes() <= free && step.isLate()) {
          free -= step.estimatedBytes();
          ended(step);
          leave(step, FallbackReason.LATE);
        }
      }
    }
    request();
  }

  /**
   * Waits until something has arrived or is left to Spark, no batch will come, deadlines are over,
   * or it is time to look for late READs.
   *
   * @return the steps whose deadlines are over
   */
  private synchronized List<Step> awaitStep() throws InterruptedException {
    List<Step> overdue = new ArrayList<>();
    if (arrived.isEmpty() && !left && isMoreToCome()) {
      long now = path.timer().nanoTime();
      long nanosToWait =
          Math.min(
              TimeUnit.MILLISECONDS.toNanos(path.options().readTimeoutMs()),
              path.lateReads().pauseNanos());
      for (Step step : underWay) {
        long nanosLeft = step.deadlineNanos() - now;
        nanosToWait = Math.min(nanosToWait, nanosLeft);
        if (nanosLeft <= 0) {
          overdue.add(step);
        }
      }
      if (overdue.isEmpty()) {
        TimeUnit.NANOSECONDS.timedWait(this, nanosToWait);
        path.lateReads().waited(now, nanosToWait);
      }
    }
    left = false;
    return overdue;
  }

  private boolean isMoreToCome() {
    return !underWay.isEmpty() || !waiting.isEmpty();
  }

  @Override
  public void close() {
    task.remove(this);
    List<Arrived> arrivedBefore;
    List<FetchedBatch> takenBatches;
    synchronized (this) {
      closed = true;
      waiting.clear();
      underWay.clear();
      if (touching != null) {
        touching.cancel(false);
      }
      waiting.leave();
      arrivedBefore = new ArrayList<>(arrived);
      arrived.clear();
      takenBatches = List.copyOf(taken);
      notifyAll();
    }
    for (Arrived each : arrivedBefore) {
      if (each instanceof TaskBatchRead read) {
        guarded(() -> drop(read));
      }
    }
    takenBatches.forEach(batch -> guarded(batch::release));
  }

  /** Releases a batch that was not polled. It counts as READ. */
  private void drop(TaskBatchRead read) {
    FetchedBatch batch = read.batch();
    guarded(batch::release);
    unread.accept(batch);
  }

  /** Runs a step and logs its exceptions: the other batches still have to be released. */
  private static void guarded(Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      TaskFailures.log(LOG, "Releasing a batch of a closed reader failed", e);
    }
  }
}
