package dev.sluice.spark.read;

import dev.sluice.spark.gather.BlockGroup;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Chunks that were not requested yet. Executors take turns. An executor's registered chunks come
 * before its staged ones, and only {@link TaskReads#MAX_STAGED} of the latter are requested at a
 * time. A slow executor thus holds neither its readers' limits nor the staging memory that others
 * wait for. {@link TaskGather} uses it under its lock. A part has one turn at most: each method
 * that adds or ends chunks gives it one where it had none.
 */
final class ChunkQueue {
  /** The chunks of one executor, registered and staged. */
  private static final class Part {
    final Deque<GatheredChunk> registered = new ArrayDeque<>();
    final Deque<GatheredChunk> toStage = new ArrayDeque<>();
    int staged;

    void add(GatheredChunk chunk) {
      (chunk.isStaged() ? toStage : registered).add(chunk);
    }

    /** Returns the next chunk. Null if there is none, or none until a staged chunk has ended. */
    GatheredChunk peek() {
      boolean isRegistered = !registered.isEmpty() || staged == TaskReads.MAX_STAGED;
      return isRegistered ? registered.peek() : toStage.peek();
    }
  }

  private final Map<BlockGroup, Part> parts = new HashMap<>();

  /** Executors whose next chunk may be requested. */
  private final Deque<Part> turns = new ArrayDeque<>();

  /**
   * @param group group of the chunks
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
   * @return the next chunk; null if there is none, or none until a staged chunk has {@link #ended}
   */
  GatheredChunk peek() {
    Part next = turns.peek();
    return next == null ? null : next.peek();
  }

  /** Takes the chunk that {@link #peek} returns. Never throws: queues have room for the moves. */
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

  /** Notes that a requested chunk has its answer. */
  void ended(GatheredChunk chunk) {
    Part part = parts.get(chunk.group());
    boolean hasTurn = part.peek() != null;
    part.staged -= chunk.isStaged() ? 1 : 0;
    giveTurn(part, hasTurn);
  }

  /** Returns the next registered chunk of each executor that has one. */
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
