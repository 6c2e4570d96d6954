package dev.sluice.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.stream.LongStream;
import org.apache.commons.lang3.function.FailableRunnable;

/** CPU time, which on a busy machine says more than the time that passes. */
public final class CpuTime {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final OperatingSystemMXBean PROCESS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private CpuTime() {}

  /** Nanoseconds of this thread, to which the collector's do not belong. */
  public static long ofThread(FailableRunnable<IOException> work) throws IOException {
    long start = THREADS.getCurrentThreadCpuTime();
    work.run();
    return THREADS.getCurrentThreadCpuTime() - start;
  }

  /** Nanoseconds of this process's Java threads meanwhile; exact, as that of all threads is not. */
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

  /** Nanoseconds of all threads of this process so far, in whole ticks of 10 ms. */
  public static long ofProcess() {
    return PROCESS.getProcessCpuTime();
  }
}
