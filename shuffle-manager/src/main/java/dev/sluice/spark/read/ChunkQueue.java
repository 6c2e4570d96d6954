package dev.sluice.spark.read;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Chunks that a task has not asked for, in turn of the executors that have them. Of what one has to
 * stage few are asked for at a time: a slow one keeps neither the task's limit nor the staging
 * memory that others wait for. For one thread at a time.
 */
final class ChunkQueue {
  /** One is staged while another is READ. */
  private static final int MAX_STAGED = 2;

  /** What an executor has. */
  private static final class Part {
    final Deque<GatheredChunk> waiting;
    int staged;

    Part(List<GatheredChunk> chunks) {
      waiting = new ArrayDeque<>(chunks);
    }

    boolean canGo() {
      return !waiting.isEmpty() && (staged < MAX_STAGED || !waiting.peek().isStaged());
    }
  }

  /** Whose next chunk may be asked for. */
  private final Deque<Part> turns = new ArrayDeque<>();

  /** Where the chunks that are being staged came from. */
  private final Map<TaskGather.Step, Part> staged = new HashMap<>();

  /**
   * @param chunks of one executor
   */
  void add(List<GatheredChunk> chunks) {
    addTurn(new Part(chunks));
  }

  private void addTurn(Part part) {
    if (part.canGo()) {
      turns.add(part);
    }
  }

  /**
   * @return null where there is none, or none before one that is being staged has {@link #ended}
   */
  GatheredChunk peek() {
    Part next = turns.peek();
    return next == null ? null : next.waiting.peek();
  }

  /** Takes what {@link #peek} shows. */
  GatheredChunk poll() {
    Part part = turns.remove();
    GatheredChunk chunk = part.waiting.remove();
    if (chunk.isStaged()) {
      part.staged++;
      staged.put(chunk, part);
    }
    addTurn(part);
    return chunk;
  }

  /** A chunk has its answer. */
  void ended(TaskGather.Step chunk) {
    Part part = staged.remove(chunk);
    if (part == null) {
      return;
    }
    boolean hasTurn = part.canGo();
    part.staged--;
    if (!hasTurn) {
      addTurn(part);
    }
  }

  boolean isEmpty() {
    return turns.isEmpty();
  }

  void clear() {
    turns.clear();
    staged.clear();
  }
}
