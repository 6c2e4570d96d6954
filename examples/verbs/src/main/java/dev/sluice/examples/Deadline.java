// SPDX-License-Identifier: Apache-2.0
package dev.sluice.examples;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** The time at which a program gives up. {@code bin/verbs} has one of its own (--timeout). */
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
    long startNanos = System.nanoTime();
    return awaited -> leftMs(startNanos, seconds, awaited, "");
  }

  /**
   * Returns the milliseconds left of a number of seconds, as {@link #leftMs(String)}.
   *
   * @param startNanos start of the seconds, of {@link System#nanoTime}
   * @param hint end of the message
   */
  static int leftMs(long startNanos, int seconds, String awaited, String hint) throws IOException {
    long left = startNanos + TimeUnit.SECONDS.toNanos(seconds) - System.nanoTime();
    if (left <= 0) {
      throw new IOException(awaited + ": not within " + seconds + " s" + hint);
    }
    return Math.clamp(TimeUnit.NANOSECONDS.toMillis(left), 1, Integer.MAX_VALUE);
  }
}
