// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * CPU time of the machine and of this process, in clock ticks, at one moment. The difference
 * between two moments shows how much of the machine other processes used during a measurement. The
 * fields are those of proc(5), {@code /proc/stat} and {@code /proc/PID/stat}. {@link
 * ComparisonOutput} takes it when a command begins, {@link BenchmarkRun} when it ends.
 *
 * @param total ticks of all processors
 * @param busy ticks of all processes, including interrupts
 * @param stolen ticks of other virtual machines of the host
 * @param own ticks of this process, its ended children, and theirs
 * @param loadAverage runnable threads in the last minute
 */
record MachineLoad(long total, long busy, long stolen, long own, double loadAverage) {
  private static final Path PROC = Path.of("/proc");

  // Columns of the line "cpu" in /proc/stat.
  private static final int IDLE = 3;
  private static final int IO_WAIT = 4;
  private static final int STEAL = 7;

  /** Number of columns to add up. Later columns count guests, which "user" and "nice" include. */
  private static final int COLUMNS = 8;

  // Fields of /proc/self/stat, counted from 0 after the command's name: utime, stime, cutime,
  // cstime.
  private static final int OWN_FIRST = 11;
  private static final int OWN_LAST = 14;

  /** Returns the load at this moment. */
  static MachineLoad now() {
    try {
      return parse(
          Files.readString(PROC.resolve("stat")),
          Files.readString(PROC.resolve("self/stat")),
          Files.readString(PROC.resolve("loadavg")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * @param stat content of /proc/stat
   * @param self content of /proc/self/stat
   * @param loadAverage content of /proc/loadavg
   */
  static MachineLoad parse(String stat, String self, String loadAverage) {
    long[] cpu = ticks(stat.lines().findFirst().orElseThrow().replaceFirst("cpu +", ""));
    long total = Arrays.stream(cpu, 0, COLUMNS).sum();
    // The command's name may contain blanks and brackets.
    String[] process = self.substring(self.lastIndexOf(')') + 2).split(" ");
    long own = Arrays.stream(process, OWN_FIRST, OWN_LAST + 1).mapToLong(Long::parseLong).sum();
    return new MachineLoad(
        total,
        total - cpu[IDLE] - cpu[IO_WAIT] - cpu[STEAL],
        cpu[STEAL],
        own,
        Double.parseDouble(loadAverage.split(" ")[0]));
  }

  private static long[] ticks(String columns) {
    return Arrays.stream(columns.trim().split(" ")).mapToLong(Long::parseLong).toArray();
  }

  /** Returns the share of CPU time since {@code start} that other processes had, from 0 to 1. */
  double othersSince(MachineLoad start) {
    return share(busy - start.busy - (own - start.own), start);
  }

  /** Returns the share that other virtual machines had since {@code start}, from 0 to 1. */
  double stolenSince(MachineLoad start) {
    return share(stolen - start.stolen, start);
  }

  private double share(long ticks, MachineLoad start) {
    return total == start.total ? 0 : Math.clamp((double) ticks / (total - start.total), 0, 1);
  }
}
