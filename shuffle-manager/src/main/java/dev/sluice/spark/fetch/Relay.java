// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.transport.FallbackReason;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A request to Spark's own transport: passes on the first answer of each block, and counts the
 * block by its way. For blocks that are late, a READ may still be under way. Its bytes are the
 * answer then if they come first, or if Spark's transport fails.
 *
 * <p>{@link SparkTransfer} makes it. Any thread calls it. The lock guards the map; no listener is
 * called with it.
 */
final class Relay implements BlockFetchingListener {
  private static final Logger LOG = LoggerFactory.getLogger(Relay.class);

  /** A block without an answer. */
  private static final class Outstanding {
    /** Number of READs of the block that are under way: readers of one task may share blocks. */
    int reads;

    /** The answer of Spark's transport, which waits for the READ; null for none. */
    @Nullable Throwable failure;
  }

  private final FallbackReason reason;
  private final String peer;
  private final BlockFetchingListener listener;
  private final ShuffleCounters counters;

  /** Guarded by this. */
  private final Map<String, Outstanding> outstanding = new HashMap<>();

  /**
   * @param peer name of the process that the blocks were to be READ from
   */
  Relay(
      String[] blockIds,
      FallbackReason reason,
      String peer,
      BlockFetchingListener listener,
      ShuffleCounters counters) {
    this.reason = reason;
    this.peer = peer;
    this.listener = listener;
    this.counters = counters;
    for (String blockId : blockIds) {
      outstanding.put(blockId, new Outstanding());
    }
  }

  FallbackReason reason() {
    return reason;
  }

  @Override
  public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
    if (take(blockId)) {
      counters.fallback(reason, peer, 1);
      counters.fallbackBytes(reason, data.size());
      listener.onBlockFetchSuccess(blockId, data);
    }
  }

  private synchronized boolean take(String blockId) {
    return outstanding.remove(blockId) != null;
  }

  @Override
  public void onBlockFetchFailure(String blockId, Throwable failure) {
    if (takeFailed(blockId, failure)) {
      counters.fallback(reason, peer, 1);
      try {
        listener.onBlockFetchFailure(blockId, failure);
      } catch (RuntimeException | Error e) { // The other blocks still need their answer.
        LOG.warn("The listener of the fetch failed on the failure of block {}", blockId, e);
      }
    }
  }

  /** Returns false if there was an answer, or if a READ may still bring the block. */
  private synchronized boolean takeFailed(String blockId, Throwable failure) {
    Outstanding block = outstanding.get(blockId);
    if (block != null && block.reads > 0) {
      block.failure = failure;
      return false;
    }
    return outstanding.remove(blockId) != null;
  }

  void failOutstanding(Throwable failure) {
    List<String> blockIds;
    synchronized (this) {
      blockIds = List.copyOf(outstanding.keySet());
    }
    blockIds.forEach(blockId -> onBlockFetchFailure(blockId, failure));
  }

  /**
   * Notes that a READ of the block is under way. The caller calls {@link #readEnded} then.
   *
   * @return false if the block has its answer
   */
  synchronized boolean awaitsRead(String blockId) {
    Outstanding block = outstanding.get(blockId);
    if (block != null) {
      block.reads++;
    }
    return block != null;
  }

  /** Returns true if the block has no answer. */
  synchronized boolean isOutstanding(String blockId) {
    return outstanding.containsKey(blockId);
  }

  /**
   * Answers with READ bytes, unless there is an answer. Takes over a reference to the bytes.
   *
   * @param staged true if the bytes came from staging memory
   */
  void read(String blockId, ManagedBuffer data, boolean staged) {
    try {
      if (take(blockId)) {
        counters.read(1, data.size());
        counters.add(ShuffleCounter.STAGED_BYTES, staged ? data.size() : 0);
        listener.onBlockFetchSuccess(blockId, data);
      }
    } finally {
      data.release();
    }
  }

  /** Notes the end of a READ. After the last one, a failure of Spark's transport is the answer. */
  void readEnded(String blockId) {
    Throwable failure;
    synchronized (this) {
      Outstanding block = outstanding.get(blockId);
      if (block == null) {
        return;
      }
      block.reads--;
      failure = block.reads == 0 ? block.failure : null;
    }
    if (failure != null) {
      onBlockFetchFailure(blockId, failure);
    }
  }
}
