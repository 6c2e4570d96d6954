package dev.sluice.benchmarks.chaos.cluster;

import dev.sluice.benchmarks.Commands;
import dev.sluice.benchmarks.Executors;
import dev.sluice.benchmarks.NodeProcess;
import dev.sluice.benchmarks.Poll;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * An executor of this driver's local cluster, or what else has one's map outputs, as the kernel
 * sees it (proc(5)).
 *
 * @param id Spark's executor id; {@code driver} for the driver's own process
 * @param pid its process
 */
public record ExecutorProcess(String id, long pid) {
  static ExecutorProcess driver() {
    return new ExecutorProcess("driver", ProcessHandle.current().pid());
  }

  /** The block server of a node. */
  public static ExecutorProcess of(NodeProcess node) throws IOException {
    return new ExecutorProcess("node", node.pid());
  }

  /** Those that run now. */
  static List<ExecutorProcess> all() {
    List<ExecutorProcess> all = new ArrayList<>();
    Executors.processes().forEach((id, process) -> all.add(new ExecutorProcess(id, process.pid())));
    return all;
  }

  public void kill() {
    ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
  }

  /** Returns when it has ended, or the time has passed. */
  public void awaitEnd(long timeoutMs) throws InterruptedException {
    Poll.until(timeoutMs, () -> !isAlive());
  }

  boolean isAlive() {
    return ProcessHandle.of(pid).isPresent();
  }

  /** Sends a signal, such as {@code STOP}; nothing happens where the process has ended. */
  public void signal(String name) throws IOException {
    if (isAlive()) {
      Commands.run(List.of("kill", "-" + name, Long.toString(pid)));
    }
  }

  /** Lets it open no more than so many descriptors; nothing happens where it has ended. */
  public void limitDescriptors(int descriptors) throws IOException {
    if (isAlive()) {
      Commands.run(List.of("prlimit", "--pid=" + pid, "--nofile=" + descriptors + ":"));
    }
  }

  /** Into a file of its own. */
  void dumpThreads(Path directory) throws IOException, InterruptedException {
    String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    new ProcessBuilder(jcmd, Long.toString(pid), "Thread.print")
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("threads-" + id + ".txt").toFile())
        .start()
        .waitFor();
  }

  /** Where its open descriptors lead. */
  public List<String> descriptors() {
    try (Stream<Path> descriptors = Files.list(proc("fd"))) {
      List<String> targets = new ArrayList<>();
      for (Path descriptor : descriptors.toList()) {
        target(descriptor).ifPresent(targets::add);
      }
      return targets;
    } catch (IOException e) {
      return List.of(); // It has ended.
    }
  }

  private static Optional<String> target(Path descriptor) {
    try {
      return Optional.of(Files.readSymbolicLink(descriptor).toString());
    } catch (IOException e) {
      return Optional.empty(); // It was closed meanwhile.
    }
  }

  /** Names of the files that it has mapped, one for each mapping. */
  public List<String> mappedFiles() {
    return lines(proc("maps")).stream().filter(line -> line.indexOf('/') >= 0).toList();
  }

  /** Names of its threads, the first 15 characters of each. */
  List<String> threads() {
    List<String> names = new ArrayList<>();
    try (Stream<Path> threads = Files.list(proc("task"))) {
      for (Path thread : threads.toList()) {
        names.addAll(lines(thread.resolve("comm")));
      }
    } catch (IOException e) {
      return List.of(); // It has ended.
    }
    return names;
  }

  /** Descriptors that it may have open at most. */
  public int descriptorLimit() {
    return (int) number("limits", "Max open files");
  }

  /** Resident memory, in KiB. */
  public long residentKib() {
    return number("status", "VmRSS:");
  }

  /** What stands after a word in one of its files. */
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
      return List.of(); // It has ended.
    }
  }

  private Path proc(String file) {
    return Path.of("/proc", Long.toString(pid), file);
  }
}
