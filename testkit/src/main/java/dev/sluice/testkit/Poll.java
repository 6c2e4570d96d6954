// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.util.concurrent.TimeUnit;
import org.apache.commons.lang3.function.FailableBooleanSupplier;

/** Waits for a condition by checking it every 10 ms on the calling thread. */
public final class Poll {
  private static final long LOOK_MS = 10;

  private Poll() {}

  /**
   * Returns when the condition holds or the time has passed. Checks at least once.
   *
   * @return true if the condition holds
   */
  public static <E extends Exception> boolean until(long timeoutMs, FailableBooleanSupplier<E> isSo)
      throws E, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    while (!isSo.getAsBoolean()) {
      if (System.nanoTime() - deadline >= 0) {
        return false;
      }
      Thread.sleep(LOOK_MS);
    }
    return true;
  }
}
