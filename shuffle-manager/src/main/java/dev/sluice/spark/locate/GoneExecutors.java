package dev.sluice.spark.locate;

import java.util.BitSet;

/**
 * Executors that Spark has removed, whose messages may still be under way: an id never comes back.
 * The driver's tables have one each, under their own locks.
 *
 * <p>It costs a bit an executor, because Spark's cluster managers count their executors' ids. One
 * with another id is not remembered.
 */
public final class GoneExecutors {
  /** Ids that are counted do not grow beyond. */
  private static final int MAX_ID = 1 << 24;

  private final BitSet ids = new BitSet();

  public void add(String executorId) {
    int id = number(executorId);
    if (id >= 0) {
      ids.set(id);
    }
  }

  public boolean contains(String executorId) {
    int id = number(executorId);
    return id >= 0 && ids.get(id);
  }

  /** Negative for an id that is no number. */
  private static int number(String executorId) {
    try {
      int id = Integer.parseInt(executorId);
      return id < MAX_ID ? id : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }
}
