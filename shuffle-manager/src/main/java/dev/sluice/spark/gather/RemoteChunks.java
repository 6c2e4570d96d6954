package dev.sluice.spark.gather;

import java.util.List;

/**
 * Gathers a task's blocks of other executors, and tells it of what else has arrived, in the order
 * in which it did.
 */
public interface RemoteChunks {
  /**
   * Begins to gather the blocks of an executor. Never blocks.
   *
   * @return false where it is known already that the executor's blocks cannot be gathered, or are
   *     too large
   */
  boolean start(BlockGroup group);

  /** Spark has an answer about a block of these: found or not. Any thread. */
  void answered(SparkBlocks blocks);

  /** What arrived next; null when nothing is there now. */
  Arrival poll();

  /**
   * Waits until there may be something to poll.
   *
   * @return false when no chunk will come any more, and nothing is there now
   */
  boolean await() throws InterruptedException;

  /** Waits until Spark has an answer, or it is closed; perhaps not so long. */
  void awaitAnswer() throws InterruptedException;

  /** Ends what is under way, and returns what arrived and was not taken. Idempotent. */
  List<Chunk> close();
}
