package dev.sluice.spark.read;

import dev.sluice.spark.transport.FallbackReason;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.storage.BlockManagerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call of {@link RdmaBlockStoreClient#fetchBlocks}: sees to it that each of its blocks gets
 * exactly one answer, from a READ or, at the latest at the deadline, from Spark's own transfer. Any
 * thread; no lock is held while Spark's listener is called. Nobody has to close it.
 */
final class FetchCall {
  private static final Logger LOG = LoggerFactory.getLogger(FetchCall.class);

  private final ReadPath path;
  private final TaskLimit task;
  private final BlockManagerId target;
  private final List<RequestedBlock> blocks;
  private final BlockFetchingListener listener;
  private final DownloadFileManager files;
  private final AtomicInteger pending;
  private volatile long deadlineNanos;
  private volatile Future<?> timeout;

  /**
   * @param task that fetches them
   * @param blocks of one shuffle
   * @param files null where the blocks go to memory
   */
  FetchCall(
      ReadPath path,
      TaskLimit task,
      BlockManagerId target,
      List<RequestedBlock> blocks,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    this.path = path;
    this.task = task;
    this.target = target;
    this.blocks = blocks;
    this.listener = listener;
    this.files = files;
    this.pending = new AtomicInteger(blocks.size());
  }

  /** Begins to READ. Never blocks. */
  void start() {
    guard(
        blocks,
        () -> {
          extendDeadline();
          scheduleTimeout(deadlineNanos - path.timer().nanoTime());
          ReadAttempt.start(path, this, blocks, false);
        });
  }

  TaskLimit task() {
    return task;
  }

  BlockManagerId target() {
    return target;
  }

  /** Null where the blocks go to memory. */
  DownloadFileManager files() {
    return files;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  /** There was progress: the time to the deadline begins again. */
  void extendDeadline() {
    deadlineNanos = path.deadlineNanos();
  }

  /**
   * Answers the block with READ bytes, unless it was answered; takes over a reference to them. One
   * block is counted, also for a batch of partitions, as Spark's iterator does.
   *
   * @param staged whether they were READ from staging memory
   * @return whether it was this call that answered
   */
  boolean deliver(RequestedBlock block, ManagedBuffer data, boolean staged) {
    try {
      if (!block.claim()) {
        return false;
      }
      settled(1);
      path.counters().read(1, data.size());
      path.counters().staged(staged ? data.size() : 0);
      listener.onBlockFetchSuccess(block.id(), data);
      return true;
    } catch (Throwable e) {
      LOG.warn("Listener failed on block {}", block, e);
      return true;
    } finally {
      data.release();
    }
  }

  /** Hands those of the blocks that have no answer yet over to Spark's own transfer. */
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

  /** Runs a step of the READ; should it fail by a defect, the blocks still get their answer. */
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
    if (pending.get() == 0) {
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
