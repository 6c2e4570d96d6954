// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static java.util.Objects.requireNonNull;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Batches that were not requested yet. Executors take turns. An executor's registered batches come
 * before its staged ones, and only {@link TaskReads#MAX_STAGED} of the latter are requested at a
 * time. A slow executor thus holds neither its readers' limits nor the staging memory that others
 * wait for. {@link BatchFetcher} uses it under its lock. A part has one turn at most: each method
 * that adds or ends batches gives it one where it had none.
 */
final class FetchQueue {
  /** The batches of one executor, registered and staged. */
  private static final class Part {
    final Deque<TaskBatchRead> registered = new ArrayDeque<>();
    final Deque<TaskBatchRead> toStage = new ArrayDeque<>();
    int staged;

    void add(TaskBatchRead batch) {
      (batch.isStaged() ? toStage : registered).add(batch);
    }

    /** Returns the next batch. Null if there is none, or none until a staged batch has ended. */
    @Nullable TaskBatchRead peek() {
      boolean isRegistered = !registered.isEmpty() || staged == TaskReads.MAX_STAGED;
      return isRegistered ? registered.peek() : toStage.peek();
    }
  }

  private final Map<ExecutorBlocks, Part> parts = new HashMap<>();

  /** Executors whose next batch may be requested. */
  private final Deque<Part> turns = new ArrayDeque<>();

  /**
   * @param group group of the batches
   */
  void add(ExecutorBlocks group, List<TaskBatchRead> batches) {
    Part part = parts.computeIfAbsent(group, _ -> new Part());
    boolean hasTurn = part.peek() != null;
    batches.forEach(part::add);
    giveTurn(part, hasTurn);
  }

  private void giveTurn(Part part, boolean hasTurn) {
    if (!hasTurn && part.peek() != null) {
      turns.add(part);
    }
  }

  /**
   * @return the next batch; null if there is none, or none until a staged batch has {@link #ended}
   */
  @Nullable TaskBatchRead peek() {
    Part next = turns.peek();
    return next == null ? null : next.peek();
  }

  /** Takes the batch that {@link #peek} returns. Never throws: queues have room for the moves. */
  TaskBatchRead poll() {
    Part part = turns.remove();
    TaskBatchRead batch = requireNonNull(part.peek());
    if (batch.isStaged()) {
      part.toStage.remove();
      part.staged++;
    } else {
      part.registered.remove();
    }
    giveTurn(part, false);
    return batch;
  }

  /** Notes that a requested batch has its answer. */
  void ended(TaskBatchRead batch) {
    Part part = requireNonNull(parts.get(batch.group()));
    boolean hasTurn = part.peek() != null;
    part.staged -= batch.isStaged() ? 1 : 0;
    giveTurn(part, hasTurn);
  }

  /** Returns the next registered batch of each executor that has one. */
  List<TaskBatchRead> firsts() {
    List<TaskBatchRead> firsts = new ArrayList<>();
    for (Part part : parts.values()) {
      if (!part.registered.isEmpty()) {
        firsts.add(part.registered.peek());
      }
    }
    return firsts;
  }

  /** Returns true if no batch may be requested, at least until a staged batch has ended. */
  boolean isEmpty() {
    return turns.isEmpty();
  }

  void clear() {
    parts.clear();
    turns.clear();
  }
}
