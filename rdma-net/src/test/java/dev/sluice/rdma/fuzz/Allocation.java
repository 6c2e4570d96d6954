// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Limits the heap allocation of the calling thread while it handles an input. */
public final class Allocation {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** Number of tries per input. Loading classes allocates as well, but only once per class. */
  private static final int TRIES = 20;

  private Allocation() {}

  /** Thrown when more bytes were allocated than allowed. */
  private static final class Exceeded extends AssertionError {
    private static final long serialVersionUID = 1L;

    Exceeded(long bytes, long limitBytes) {
      super("%d bytes were allocated, %d are allowed".formatted(bytes, limitBytes));
    }
  }

  /** Handles an input, and repeats it if it exceeds the limit: only its own allocation recurs. */
  public static void handle(Runnable input) {
    for (int left = TRIES - 1; ; left--) {
      try {
        input.run();
        return;
      } catch (Exceeded e) {
        if (left == 0) {
          throw e;
        }
      }
    }
  }

  /**
   * Runs a part of {@link #handle}'s task; ends the input if the part allocates more than the
   * limit.
   */
  public static void assertWithin(long limitBytes, Runnable part) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    part.run();
    long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
    if (bytes > limitBytes) {
      throw new Exceeded(bytes, limitBytes);
    }
  }
}
