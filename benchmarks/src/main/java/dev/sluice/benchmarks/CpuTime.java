// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.stream.LongStream;
import org.apache.commons.lang3.function.FailableRunnable;

/**
 * Measures CPU time, which on a busy machine is more telling than elapsed time. Commands and the
 * processes that they start call it; it runs the work on the caller's thread. No state.
 */
public final class CpuTime {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final OperatingSystemMXBean PROCESS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private CpuTime() {}

  /** CPU nanoseconds of this thread during the work, without the garbage collector's. */
  public static long ofThread(FailableRunnable<IOException> work) throws IOException {
    long start = THREADS.getCurrentThreadCpuTime();
    work.run();
    return THREADS.getCurrentThreadCpuTime() - start;
  }

  /**
   * CPU nanoseconds of this process's Java threads during the work; exact, unlike ofProcess. A
   * thread that ends meanwhile makes it too small; threads of the JVM itself do not count.
   */
  public static long ofThreads(FailableRunnable<IOException> work) throws IOException {
    long start = ofThreads();
    work.run();
    return ofThreads() - start;
  }

  private static long ofThreads() {
    return LongStream.of(THREADS.getAllThreadIds())
        .map(THREADS::getThreadCpuTime)
        .filter(nanos -> nanos > 0)
        .sum();
  }

  /** CPU nanoseconds of all threads of this process so far, in ticks of 10 ms. */
  public static long ofProcess() {
    return PROCESS.getProcessCpuTime();
  }
}
