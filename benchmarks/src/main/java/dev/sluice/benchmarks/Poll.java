package dev.sluice.benchmarks;

import java.util.concurrent.TimeUnit;
import org.apache.commons.lang3.function.FailableBooleanSupplier;

/** Waits for what nobody tells, by looking again and again. */
public final class Poll {
  private static final long LOOK_MS = 10;

  private Poll() {}

  /**
   * Returns when it is so, or the time has passed.
   *
   * @return whether it is so
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
