// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import java.util.BitSet;

/**
 * Executors that Spark has removed, but whose messages may still arrive. An id is never used again.
 * Each of the driver's tables has one, under its own lock.
 *
 * <p>It costs a bit per executor, because Spark's cluster managers count executors' ids. An
 * executor with another kind of id is not remembered.
 */
public final class GoneExecutors {
  /** Ids from this value on are not remembered, which bounds the set to 2 MiB. */
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

  /** Returns the number; negative for an id that is not a number. */
  private static int number(String executorId) {
    try {
      int id = Integer.parseInt(executorId);
      return id < MAX_ID ? id : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }
}
