// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.workload;

import java.util.Iterator;

/**
 * Slows a reduce task down, so that a fault finds tasks that have READ only a part of their blocks.
 * The task's thread sleeps before every 50th record, ten times at most: 40 ms in all.
 */
final class Pace {
  /** Number of records between two rests. */
  private static final int STRIDE = 50;

  private static final int RESTS = 10;
  private static final long REST_MS = 4;

  private Pace() {}

  static <T> Iterator<T> of(Iterator<T> records) {
    return new Iterator<>() {
      private int taken;

      @Override
      public boolean hasNext() {
        return records.hasNext();
      }

      @Override
      public T next() {
        if (taken++ % STRIDE == 0 && taken < RESTS * STRIDE) {
          rest();
        }
        return records.next();
      }
    };
  }

  private static void rest() {
    try {
      Thread.sleep(REST_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("the task was killed", e);
    }
  }
}
