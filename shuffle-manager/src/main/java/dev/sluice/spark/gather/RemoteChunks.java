package dev.sluice.spark.gather;

import java.util.List;

/** Gathers a task's blocks of other executors: chunks come in the order in which they arrive. */
public interface RemoteChunks {
  /**
   * Begins to gather the blocks of an executor. Never blocks.
   *
   * @return false where it is known already that the executor's blocks cannot be gathered, or are
   *     too large
   */
  boolean start(BlockGroup group);

  /** The next chunk that is there; null when none is there now. */
  Chunk poll();

  /**
   * Waits until there may be a chunk to poll.
   *
   * @return false when there will be none
   */
  boolean await() throws InterruptedException;

  /** Ends what is under way, and returns what arrived and was not taken. Idempotent. */
  List<Chunk> close();
}
