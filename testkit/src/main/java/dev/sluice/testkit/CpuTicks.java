// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.util.Arrays;

/**
 * CPU time of a process in clock ticks, from its file {@code /proc/PID/stat} (proc(5)). Benchmarks
 * and clusters read the file. No state; any thread.
 */
public final class CpuTicks {
  /** Clock ticks in a second. */
  public static final double PER_SECOND = 100;

  // Fields counted from 0 after the command's name: utime, stime, cutime, cstime.
  private static final int FIRST = 11;
  private static final int LAST = 14;

  private CpuTicks() {}

  /**
   * Returns the ticks of a process, its ended children, and theirs.
   *
   * @param stat content of its file; if it is empty, as for a process that has ended, there are 0
   */
  public static long of(String stat) {
    // The command's name may contain blanks and brackets.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ");
    return fields.length <= LAST
        ? 0
        : Arrays.stream(fields, FIRST, LAST + 1).mapToLong(Long::parseLong).sum();
  }
}
