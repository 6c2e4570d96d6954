// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Process of an executor of this driver's local cluster, or of a node daemon, as the kernel shows
 * it (proc(5)). Faults and leak checks of the fault harness, and {@code bench node}, make it; any
 * thread may use it. The process may end at any time: then there is nothing to strike or to count,
 * and methods return empty lists or 0.
 *
 * @param id Spark's executor id; {@code driver} for the driver's process, {@code node} for a node
 *     daemon
 * @param pid process id
 */
public record ExecutorProcess(String id, long pid) {
  public static ExecutorProcess driver() {
    return new ExecutorProcess("driver", ProcessHandle.current().pid());
  }

  /** Returns the process of a node daemon. */
  public static ExecutorProcess of(NodeProcess node) throws IOException {
    return new ExecutorProcess("node", node.pid());
  }

  /** Returns the executors that run now. */
  public static List<ExecutorProcess> all() {
    List<ExecutorProcess> all = new ArrayList<>();
    Executors.processes().forEach((id, process) -> all.add(new ExecutorProcess(id, process.pid())));
    return all;
  }

  public void kill() {
    ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
  }

  /** Returns when it has ended or the time has passed. */
  public void awaitEnd(long timeoutMs) throws InterruptedException {
    Poll.until(timeoutMs, () -> !isAlive());
  }

  public boolean isAlive() {
    return ProcessHandle.of(pid).isPresent();
  }

  /** Sends a signal, such as {@code STOP}; does nothing if the process has ended. */
  public void signal(String name) throws IOException {
    if (isAlive()) {
      Commands.run(List.of("kill", "-" + name, Long.toString(pid)));
    }
  }

  /** Limits its open descriptors; does nothing if the process has ended. */
  public void limitDescriptors(int descriptors) throws IOException {
    if (isAlive()) {
      Commands.run(List.of("prlimit", "--pid=" + pid, "--nofile=" + descriptors + ":"));
    }
  }

  /** Writes a thread dump to a file. */
  public void dumpThreads(Path directory) throws IOException, InterruptedException {
    String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    new ProcessBuilder(jcmd, Long.toString(pid), "Thread.print")
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("threads-" + id + ".txt").toFile())
        .start()
        .waitFor();
  }

  /** Returns the targets of its open descriptors. */
  public List<String> descriptors() {
    try (Stream<Path> descriptors = Files.list(proc("fd"))) {
      List<String> targets = new ArrayList<>();
      for (Path descriptor : descriptors.toList()) {
        target(descriptor).ifPresent(targets::add);
      }
      return targets;
    } catch (IOException e) {
      return List.of(); // The process has ended.
    }
  }

  private static Optional<String> target(Path descriptor) {
    try {
      return Optional.of(Files.readSymbolicLink(descriptor).toString());
    } catch (IOException e) {
      return Optional.empty(); // It was closed meanwhile.
    }
  }

  /** Returns the lines of its mappings of files, one for each mapping. */
  public List<String> mappedFiles() {
    return lines(proc("maps")).stream().filter(line -> line.indexOf('/') >= 0).toList();
  }

  /** Returns the names of its threads, the first 15 characters of each. */
  public List<String> threads() {
    List<String> names = new ArrayList<>();
    try (Stream<Path> threads = Files.list(proc("task"))) {
      for (Path thread : threads.toList()) {
        names.addAll(lines(thread.resolve("comm")));
      }
    } catch (IOException e) {
      return List.of(); // The process has ended.
    }
    return names;
  }

  /** Returns its limit of open descriptors. */
  public int descriptorLimit() {
    return (int) number("limits", "Max open files");
  }

  /** Returns the resident memory in KiB. */
  public long residentKib() {
    return number("status", "VmRSS:");
  }

  /** Returns the most resident memory that it has had, in KiB. */
  public long peakResidentKib() {
    return number("status", "VmHWM:");
  }

  /** Returns the number that follows a word in one of its files. */
  private long number(String file, String word) {
    return lines(proc(file)).stream()
        .filter(line -> line.startsWith(word))
        .mapToLong(line -> Long.parseLong(line.substring(word.length()).strip().split(" ")[0]))
        .findFirst()
        .orElse(0);
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file, StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return List.of(); // The process has ended.
    }
  }

  private Path proc(String file) {
    return Path.of("/proc", Long.toString(pid), file);
  }
}
