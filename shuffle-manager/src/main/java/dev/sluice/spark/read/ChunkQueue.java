package dev.sluice.spark.read;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Chunks that nobody has asked for yet, in turn of the executors that have them. Of what one has to
 * stage few are asked for at a time, and none before what is registered: a slow one keeps neither
 * its readers' limits nor the staging memory that others wait for. For one thread at a time.
 */
final class ChunkQueue<C extends ChunkQueue.Queued> {
  /** What is in the queue. */
  interface Queued {
    /** Whether the peer has to be asked for some of it. */
    boolean isStaged();
  }

  /** One is staged while another is READ. */
  private static final int MAX_STAGED = 2;

  /** What an executor has. */
  private static final class Part<C extends Queued> {
    final Deque<C> registered = new ArrayDeque<>();
    final Deque<C> toStage = new ArrayDeque<>();
    int staged;

    void add(C chunk) {
      (chunk.isStaged() ? toStage : registered).add(chunk);
    }

    /** Null where there is none, or none before one that is being staged has ended. */
    C peek() {
      boolean isRegistered = !registered.isEmpty() || staged == MAX_STAGED;
      return isRegistered ? registered.peek() : toStage.peek();
    }

    C poll() {
      C chunk = peek();
      (chunk.isStaged() ? toStage : registered).remove();
      return chunk;
    }
  }

  private final Map<Object, Part<C>> parts = new HashMap<>();

  /** Those of which the next chunk may be asked for. */
  private final Deque<Part<C>> turns = new ArrayDeque<>();

  /** Where the chunks that are being staged came from. */
  private final Map<Object, Part<C>> staged = new HashMap<>();

  /**
   * @param executor which has them
   */
  void add(Object executor, List<C> chunks) {
    Part<C> part = parts.computeIfAbsent(executor, _ -> new Part<>());
    change(part, () -> chunks.forEach(part::add));
  }

  /** Gives the part a turn, if it had none and has a next chunk now. */
  private void change(Part<C> part, Runnable change) {
    boolean hasTurn = part.peek() != null;
    change.run();
    if (!hasTurn && part.peek() != null) {
      turns.add(part);
    }
  }

  /**
   * @return null where there is none, or none before one that is being staged has {@link #ended}
   */
  C peek() {
    Part<C> next = turns.peek();
    return next == null ? null : next.peek();
  }

  /** Takes what {@link #peek} shows. */
  C poll() {
    Part<C> part = turns.remove();
    C chunk = part.poll();
    if (chunk.isStaged()) {
      part.staged++;
      staged.put(chunk, part);
    }
    if (part.peek() != null) {
      turns.add(part);
    }
    return chunk;
  }

  /** A chunk has its answer; what is none does not matter. */
  void ended(Object chunk) {
    Part<C> part = staged.remove(chunk);
    if (part != null) {
      change(part, () -> part.staged--);
    }
  }

  boolean isEmpty() {
    return turns.isEmpty();
  }

  void clear() {
    parts.clear();
    turns.clear();
    staged.clear();
  }
}
