package dev.sluice.benchmarks.storm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** CPU time of the executors of a local cluster: the workers start them in the driver's process. */
final class ExecutorCpu {
  private static final String EXECUTOR_ID = "--executor-id";

  private ExecutorCpu() {}

  /** Seconds, user and system, since each has started, by executor id. */
  static Map<String, Double> seconds() throws IOException {
    Map<String, Double> seconds = new TreeMap<>();
    for (ProcessHandle child : ProcessHandle.current().children().toList()) {
      Optional<String> executor = executorId(commandLine(child));
      Optional<Duration> time = child.info().totalCpuDuration();
      if (executor.isPresent() && time.isPresent()) {
        seconds.put(executor.get(), time.get().toNanos() / 1e9);
      }
    }
    return seconds;
  }

  /** What each has used between two calls of {@link #seconds}. */
  static Map<String, Double> between(Map<String, Double> start, Map<String, Double> end) {
    Map<String, Double> used = new TreeMap<>(end);
    start.forEach((executor, seconds) -> used.merge(executor, -seconds, Double::sum));
    return used;
  }

  /** All of it: ProcessHandle gives no more than a page. */
  private static List<String> commandLine(ProcessHandle process) throws IOException {
    Path file = Path.of("/proc", Long.toString(process.pid()), "cmdline");
    return List.of(Files.readString(file).split("\0"));
  }

  static Optional<String> executorId(List<String> commandLine) {
    int option = commandLine.indexOf(EXECUTOR_ID);
    return option < 0 || option + 1 == commandLine.size()
        ? Optional.empty()
        : Optional.of(commandLine.get(option + 1));
  }
}
