// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.transport.FallbackReason;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.storage.BlockManagerId;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call of {@link RdmaBlockStoreClient#fetchBlocks}. Gives each block exactly one answer: from a
 * READ or, at the deadline at the latest, from Spark's own transport. The task's thread makes and
 * starts it. The thread that ends a step answers: a delivery thread, the timer's or another. It has
 * no lock: only the thread that claims a block answers it. No lock may be held while Spark's
 * listener is called. Nothing to close.
 */
final class FetchCall implements FetchBudget.Request {
  private static final Logger LOG = LoggerFactory.getLogger(FetchCall.class);

  private final FetchContext path;
  private final TaskReads task;
  private final BlockManagerId target;
  private final List<RequestedBlock> blocks;
  private final BlockFetchingListener listener;
  private final @Nullable DownloadFileManager files;

  /** Number of blocks that no thread has claimed. */
  private final AtomicInteger pending;

  private volatile long deadlineNanos;
  private volatile @Nullable Future<?> timeout;

  /**
   * @param task state of the task that fetches the blocks
   * @param blocks blocks of one shuffle
   * @param files null if the blocks go to memory
   */
  FetchCall(
      FetchContext path,
      TaskReads task,
      BlockManagerId target,
      List<RequestedBlock> blocks,
      BlockFetchingListener listener,
      @Nullable DownloadFileManager files) {
    this.path = path;
    this.task = task;
    this.target = target;
    this.blocks = blocks;
    this.listener = listener;
    this.files = files;
    this.pending = new AtomicInteger(blocks.size());
  }

  /** Starts the READs. Never blocks. */
  void start() {
    guard(
        blocks,
        () -> {
          extendDeadline();
          scheduleTimeout(deadlineNanos - path.timer().nanoTime());
          ReadAttempt.start(path, this, blocks, false);
        });
  }

  @Override
  public TaskReads task() {
    return task;
  }

  BlockManagerId target() {
    return target;
  }

  /** Returns null if the blocks go to memory. */
  @Nullable DownloadFileManager files() {
    return files;
  }

  @Override
  public long deadlineNanos() {
    return deadlineNanos;
  }

  /** Restarts the deadline, as there was progress. */
  @Override
  public void extendDeadline() {
    deadlineNanos = path.deadlineNanos();
  }

  /**
   * Answers the block with READ bytes, unless it has an answer. Takes over a reference to the
   * bytes. A batch of partitions counts as one block, as in Spark's iterator.
   *
   * @param staged true if the bytes came from staging memory
   * @return true if this call answered the block
   */
  boolean deliver(RequestedBlock block, ManagedBuffer data, boolean staged) {
    try {
      if (!block.claim()) {
        return false;
      }
      settled(1);
      path.counters().read(1, data.size());
      path.counters().add(ShuffleCounter.STAGED_BYTES, staged ? data.size() : 0);
      listener.onBlockFetchSuccess(block.id(), data);
      return true;
    } catch (Throwable e) {
      LOG.warn("The listener of the fetch failed on block {}", block, e);
      return true;
    } finally {
      data.release();
    }
  }

  /** Falls back to Spark's own transport for the blocks that have no answer yet. */
  void fallBack(Collection<RequestedBlock> candidates, FallbackReason reason) {
    String[] blockIds =
        candidates.stream()
            .filter(RequestedBlock::claim)
            .map(RequestedBlock::id)
            .toArray(String[]::new);
    if (blockIds.length > 0) {
      settled(blockIds.length);
      path.sparkTransfer().fetchSoon(target, blockIds, reason, listener, files);
    }
  }

  /** Runs a step of the READ. The blocks get their answer even if it fails by a defect. */
  void guard(Collection<RequestedBlock> candidates, Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      LOG.error("Reading from executor {} failed unexpectedly", target.executorId(), e);
      fallBack(candidates, FallbackReason.TRANSPORT);
    }
  }

  private void settled(int count) {
    if (pending.addAndGet(-count) == 0) {
      cancelTimeout();
    }
  }

  private void scheduleTimeout(long delayNanos) {
    timeout = path.timer().schedule(this::timedOut, delayNanos);
    if (pending.get() == 0) { // The last answer may have come before there was a timeout to cancel.
      cancelTimeout();
    }
  }

  private void timedOut() {
    long remainingNanos = deadlineNanos - path.timer().nanoTime();
    if (remainingNanos > 0) {
      scheduleTimeout(remainingNanos);
    } else {
      fallBack(blocks, FallbackReason.DEADLINE);
    }
  }

  private void cancelTimeout() {
    Future<?> scheduled = timeout;
    if (scheduled != null) {
      scheduled.cancel(false);
    }
  }
}
