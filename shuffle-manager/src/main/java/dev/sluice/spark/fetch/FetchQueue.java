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
 * A reader's batches that were not requested yet, and the bytes of those that were. Executors take
 * turns. An executor's registered batches come before its staged ones, and only {@link
 * TaskReads#MAX_STAGED} of the latter are requested at a time. A slow executor thus holds neither
 * its readers' limits nor the staging memory that others wait for. Batches are requested within the
 * reader's part of the task's limit. {@link BatchFetcher} uses it under its lock. An executor has
 * one turn at most: each method that adds or ends batches gives it one where it had none.
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

  private final TaskReads task;
  private final Map<ExecutorBlocks, Part> parts = new HashMap<>();

  /** Executors whose next batch may be requested. */
  private final Deque<Part> turns = new ArrayDeque<>();

  /** Bytes of the batches that were requested and not released. */
  private long bytes;

  /** True while the reader has batches to come, and so a part of the task's limit. */
  private boolean entered;

  FetchQueue(TaskReads task) {
    this.task = task;
  }

  /** Takes a part of the task's limit, as batches are to come. Idempotent. */
  void enter() {
    if (!entered) {
      entered = true;
      task.enter();
    }
  }

  /** Leaves the part of the limit to the task's other readers. Idempotent. */
  void leave() {
    if (entered) {
      entered = false;
      task.leave();
    }
  }

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
   * Returns the next batch. Null if there is none, none until a staged batch has {@link #ended}, or
   * no room for it.
   *
   * @param isBusy false if the reader has nothing else to come. It gets a batch then, however much
   *     it has not released yet
   */
  @Nullable TaskBatchRead peek(boolean isBusy) {
    Part next = turns.peek();
    TaskBatchRead batch = next == null ? null : next.peek();
    boolean fits = batch == null || !isBusy || bytes == 0 || bytes + batch.bytes() <= task.part();
    return fits ? batch : null;
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
    bytes += batch.bytes();
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

  /** Notes that bytes of a requested batch were released, or will not come. */
  void released(int count) {
    bytes -= count;
  }

  /** Returns true if no requested batch has bytes that were not released. */
  boolean isReleased() {
    return bytes == 0;
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
