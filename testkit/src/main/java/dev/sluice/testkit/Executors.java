// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Finds the executor processes of an application and measures them, by /proc. It runs in the
 * driver's process: that process's descendants are executors, and so are those of {@link #WORKER}.
 * It has no state, and any thread of the driver may call it.
 */
public final class Executors {
  /**
   * System property: process id of the server of map outputs next to the executors, such as a node
   * daemon. Its CPU time is counted under this key.
   */
  public static final String SERVER = "spark.sluice.benchmark.server";

  /** System property: process id of the Worker that started the executors. */
  public static final String WORKER = "spark.sluice.benchmark.worker";

  private static final Pattern LOCAL_CLUSTER = Pattern.compile("local-cluster\\[(\\d+),.*");
  private static final Pattern READ_BYTES = Pattern.compile("(?m)^read_bytes: (\\d+)$");

  /** Deadline for all executors to start. */
  private static final long UP_MS = 300_000;

  private Executors() {}

  /** Waits for all executors, so that the first ones do not do the work of the others. */
  public static void await(JavaSparkContext spark) throws InterruptedException, TimeoutException {
    int wanted = count(spark);
    if (!Poll.until(UP_MS, () -> spark.sc().getExecutorIds().size() >= wanted)) {
      throw new TimeoutException(
          "only %d of %d executors registered within %d ms"
              .formatted(spark.sc().getExecutorIds().size(), wanted, UP_MS));
    }
  }

  private static int count(JavaSparkContext spark) {
    if (spark.isLocal()) {
      return 0; // The driver runs the tasks.
    }
    Matcher localCluster = LOCAL_CLUSTER.matcher(spark.master());
    return localCluster.matches()
        ? Integer.parseInt(localCluster.group(1))
        : spark.getConf().getInt("spark.executor.instances", 1);
  }

  /**
   * Returns the running executor processes by executor id: those of this driver's local cluster and
   * those of its {@link #WORKER}.
   */
  public static Map<String, ProcessHandle> processes() {
    Map<String, ProcessHandle> processes = new TreeMap<>();
    Stream.concat(Stream.of(ProcessHandle.current()), process(WORKER).stream())
        .flatMap(ProcessHandle::descendants)
        .forEach(process -> id(process).ifPresent(id -> processes.putIfAbsent(id, process)));
    return processes;
  }

  private static Optional<ProcessHandle> process(String property) {
    return Optional.ofNullable(Long.getLong(property)).flatMap(ProcessHandle::of);
  }

  /**
   * Returns the CPU time, user and system, of each of the {@link #processes} since its start, in
   * ticks of 10 ms.
   *
   * @return seconds by executor id and, for the server, by {@link #SERVER}
   */
  public static Map<String, Double> cpuSeconds() {
    Map<String, ProcessHandle> processes = processes();
    process(SERVER).ifPresent(server -> processes.put(SERVER, server));
    Map<String, Double> seconds = new TreeMap<>();
    processes.forEach(
        (executor, process) ->
            process
                .info()
                .totalCpuDuration()
                .ifPresent(time -> seconds.put(executor, time.toNanos() / 1e9)));
    return seconds;
  }

  /** Returns the seconds that each has used between two calls of {@link #cpuSeconds}. */
  static Map<String, Double> used(Map<String, Double> start, Map<String, Double> end) {
    Map<String, Double> used = new TreeMap<>(end);
    start.forEach((executor, seconds) -> used.merge(executor, -seconds, Double::sum));
    return used;
  }

  /** Does some work, and measures its effort. */
  public static <T> Measured<T> measure(Callable<T> work) throws Exception {
    Map<String, Double> before = cpuSeconds();
    long start = System.nanoTime();
    T result = work.call();
    double seconds = (System.nanoTime() - start) / 1e9;
    return new Measured<>(result, new Effort(seconds, used(before, cpuSeconds())));
  }

  /** Result of some work, and its effort. */
  public record Measured<T>(T result, Effort effort) {}

  /**
   * Time that some work took.
   *
   * @param seconds wall time
   * @param cpuSeconds CPU time meanwhile, as {@link #cpuSeconds} has it
   */
  public record Effort(double seconds, Map<String, Double> cpuSeconds) {
    public static final Effort NONE = new Effort(0, Map.of());

    public double allCpuSeconds() {
      return cpuSeconds.values().stream().mapToDouble(Double::doubleValue).sum();
    }
  }

  /** Returns the bytes that all {@link #processes} have read from disks since their start. */
  public static long diskBytes() {
    long bytes = 0;
    for (ProcessHandle process : processes().values()) {
      bytes += diskBytes(Path.of("/proc", Long.toString(process.pid()), "io"));
    }
    return bytes;
  }

  static long diskBytes(Path account) {
    try {
      Matcher read = READ_BYTES.matcher(Files.readString(account));
      return read.find() ? Long.parseLong(read.group(1)) : 0;
    } catch (IOException e) {
      return 0; // The process has just ended.
    }
  }

  private static Optional<String> id(ProcessHandle process) {
    try {
      // ProcessHandle#info omits a command line that is longer than a page.
      Path commandLine = Path.of("/proc", Long.toString(process.pid()), "cmdline");
      return id(List.of(Files.readString(commandLine, ISO_8859_1).split("\0")));
    } catch (IOException e) {
      return Optional.empty(); // The process has just ended.
    }
  }

  static Optional<String> id(List<String> commandLine) {
    int option = commandLine.indexOf("--executor-id");
    return option < 0 || option + 1 == commandLine.size()
        ? Optional.empty()
        : Optional.of(commandLine.get(option + 1));
  }
}
