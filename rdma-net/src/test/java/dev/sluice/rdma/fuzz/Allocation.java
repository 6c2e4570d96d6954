package dev.sluice.rdma.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** What the calling thread allocates on the heap while it handles an input. */
public final class Allocation {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** Loading a class allocates as well, but only once; an input may need many. */
  private static final int TRIES = 20;

  private Allocation() {}

  /** More was allocated than is allowed. */
  private static final class Exceeded extends AssertionError {
    private static final long serialVersionUID = 1L;

    Exceeded(long bytes, long limitBytes) {
      super("%d bytes were allocated, %d are allowed".formatted(bytes, limitBytes));
    }
  }

  /** Handles an input, again where it exceeded its limit: what the input is to blame for, stays. */
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
   * Runs part of {@link #handle}'s task, which ends the input where it allocates more than that.
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
