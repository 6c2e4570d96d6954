package dev.sluice.spark.read;

import dev.sluice.spark.gather.BlockGroup;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Chunks that nobody has asked for yet, in turn of the executors that have them. Of what one has to
 * stage few are asked for at a time, and none before what is registered: a slow one keeps neither
 * its readers' limits nor the staging memory that others wait for. For one thread at a time.
 */
final class ChunkQueue {
  /** What an executor has. */
  private static final class Part {
    final Deque<GatheredChunk> registered = new ArrayDeque<>();
    final Deque<GatheredChunk> toStage = new ArrayDeque<>();
    int staged;

    void add(GatheredChunk chunk) {
      (chunk.isStaged() ? toStage : registered).add(chunk);
    }

    /** Null where there is none, or none before one that is being staged has ended. */
    GatheredChunk peek() {
      boolean isRegistered = !registered.isEmpty() || staged == TaskLimit.MAX_STAGED;
      return isRegistered ? registered.peek() : toStage.peek();
    }
  }

  private final Map<BlockGroup, Part> parts = new HashMap<>();

  /** Those of which the next chunk may be asked for. */
  private final Deque<Part> turns = new ArrayDeque<>();

  /**
   * @param group of which they are
   */
  void add(BlockGroup group, List<GatheredChunk> chunks) {
    Part part = parts.computeIfAbsent(group, _ -> new Part());
    boolean hasTurn = part.peek() != null;
    chunks.forEach(part::add);
    giveTurn(part, hasTurn);
  }

  private void giveTurn(Part part, boolean hasTurn) {
    if (!hasTurn && part.peek() != null) {
      turns.add(part);
    }
  }

  /**
   * @return null where there is none, or none before one that is being staged has {@link #ended}
   */
  GatheredChunk peek() {
    Part next = turns.peek();
    return next == null ? null : next.peek();
  }

  /** Takes what {@link #peek} shows. Throws nothing: there is room for what it moves. */
  GatheredChunk poll() {
    Part part = turns.remove();
    GatheredChunk chunk = part.peek();
    if (chunk.isStaged()) {
      part.toStage.remove();
      part.staged++;
    } else {
      part.registered.remove();
    }
    giveTurn(part, false);
    return chunk;
  }

  /** A chunk that was taken has its answer. */
  void ended(GatheredChunk chunk) {
    Part part = parts.get(chunk.group());
    boolean hasTurn = part.peek() != null;
    part.staged -= chunk.isStaged() ? 1 : 0;
    giveTurn(part, hasTurn);
  }

  /** Of what is registered one of each executor that has some. */
  List<GatheredChunk> firsts() {
    List<GatheredChunk> firsts = new ArrayList<>();
    for (Part part : parts.values()) {
      if (!part.registered.isEmpty()) {
        firsts.add(part.registered.peek());
      }
    }
    return firsts;
  }

  boolean isEmpty() {
    return turns.isEmpty();
  }

  void clear() {
    parts.clear();
    turns.clear();
  }
}
