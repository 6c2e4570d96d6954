// SPDX-License-Identifier: Apache-2.0
package dev.sluice.examples;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** The time at which a program gives up. */
@FunctionalInterface
public interface Deadline {
  /**
   * Returns the milliseconds left, at least 1.
   *
   * @param awaited the awaited event, for the message
   * @throws IOException if the time is over
   */
  int leftMs(String awaited) throws IOException;

  /** Returns a deadline that starts now. */
  static Deadline in(int seconds) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    return awaited -> {
      long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
      if (left < 0) {
        throw new IOException(awaited + ": not within " + seconds + " s");
      }
      return Math.clamp(left, 1, Integer.MAX_VALUE);
    };
  }
}
