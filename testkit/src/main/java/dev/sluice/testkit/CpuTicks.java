// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * CPU time of a process in clock ticks, from its file {@code /proc/PID/stat} (proc(5)). Benchmarks
 * and clusters read the file. No state; any thread.
 */
public final class CpuTicks {
  /** Clock ticks in a second. */
  private static final double PER_SECOND = 100;

  // Fields counted from 0 after the command's name: utime, stime, cutime, cstime.
  private static final int FIRST = 11;
  private static final int LAST = 14;

  private CpuTicks() {}

  /** Returns the seconds of processes, their ended children, and theirs. */
  public static double seconds(Stream<ProcessHandle> processes) {
    return processes.map(CpuTicks::stat).mapToLong(CpuTicks::of).sum() / PER_SECOND;
  }

  private static String stat(ProcessHandle process) {
    try {
      return Files.readString(Path.of("/proc/" + process.pid() + "/stat"), ISO_8859_1);
    } catch (IOException e) { // The process has ended.
      return "";
    }
  }

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
