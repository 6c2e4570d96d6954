package dev.sluice.benchmarks.scale;

import java.io.IOException;

/** A driver's table of one shuffle's map outputs, filled and asked by the calling thread. */
interface MapTable {
  /** Every executor tells of its map outputs; nanoseconds of CPU. */
  long publish() throws IOException;

  /**
   * What it takes an executor to have the table.
   *
   * @param bytes of the driver's answer
   * @param nanos of CPU, the driver's part included
   * @param heapBytes of what the executor keeps
   */
  record Fetched(long bytes, long nanos, long heapBytes) {}

  /** One executor fetches it, without broadcast. */
  Fetched fetch() throws Exception;

  /**
   * What it takes the driver until all executors have their answers.
   *
   * @param bytes answers, and one copy of what they share by broadcast
   * @param nanos of CPU
   */
  record Served(long bytes, long nanos) {}

  /** All executors ask, of whom none has asked before. */
  Served answerAll() throws IOException;
}
