package dev.sluice.benchmarks.scale;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** CPU time, which on a busy machine says more than the time that passes. */
final class CpuTime {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final OperatingSystemMXBean PROCESS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  /** What is measured. */
  @FunctionalInterface
  interface Work {
    void run() throws IOException;
  }

  private CpuTime() {}

  /** Nanoseconds of this thread, to which the collector's do not belong. */
  static long ofThread(Work work) throws IOException {
    long start = THREADS.getCurrentThreadCpuTime();
    work.run();
    return THREADS.getCurrentThreadCpuTime() - start;
  }

  /** Nanoseconds of all threads of this process so far, in user mode and in the kernel. */
  static long ofProcess() {
    return PROCESS.getProcessCpuTime();
  }
}
