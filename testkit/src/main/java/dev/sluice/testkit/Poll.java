// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Waits for a condition by checking it every 10 ms on the calling thread. */
public final class Poll {
  /** Condition that is checked again and again. */
  @FunctionalInterface
  public interface Condition<E extends Exception> {
    boolean holds() throws E;
  }

  private static final long LOOK_MS = 10;

  private Poll() {}

  /**
   * Returns when the condition holds or the time has passed. Checks at least once.
   *
   * @return true if the condition holds
   */
  public static <E extends Exception> boolean until(long timeoutMs, Condition<E> condition)
      throws E, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    while (!condition.holds()) {
      if (System.nanoTime() - deadline >= 0) {
        return false;
      }
      Thread.sleep(LOOK_MS);
    }
    return true;
  }

  /**
   * Returns when the condition holds.
   *
   * @param what the condition in words
   * @throws AssertionError if it does not hold in time
   */
  public static <E extends Exception> void await(
      String what, Duration timeout, Condition<E> condition) throws E, InterruptedException {
    if (!until(timeout.toMillis(), condition)) {
      throw new AssertionError("not within " + timeout.toSeconds() + " s: " + what);
    }
  }
}
