// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Directory of a command's run, for all that it and its processes write. A command makes one on its
 * thread before its work, deletes it after a success, and closes it in any case. After a failure
 * the directory stays, with the logs, until the command runs again. If the command is interrupted
 * (SIGINT, SIGTERM), a shutdown hook waits until the processes that it started have ended, kills
 * those that do not end, and deletes the directory.
 */
public final class RunDirectory implements AutoCloseable {
  private static final String RUN = "run-";

  /** Time for the processes to end, and for threads that still write files. */
  private static final long END_MS = 10_000;

  private final Path path;
  private final long endMs;
  private final Thread abandoning = new Thread(this::abandon, "run-abandoner");

  private RunDirectory(Path path, long endMs) {
    this.path = path;
    this.endMs = endMs;
  }

  /**
   * Creates the directory of this process under that of the command. Deletes the directories of
   * ended processes: logs of a failure, or everything if the process was killed.
   */
  public static RunDirectory of(String command) throws IOException {
    return of(command, END_MS);
  }

  /**
   * Creates the directory of a command whose processes need longer to end.
   *
   * @param endMs time for them: a command with a directory of its own takes up to 20 s
   */
  public static RunDirectory of(String command, long endMs) throws IOException {
    return in(Installation.fromEnvironment().data().resolve(command), endMs);
  }

  static RunDirectory in(Path parent, long endMs) throws IOException {
    Files.createDirectories(parent);
    try (DirectoryStream<Path> runs = Files.newDirectoryStream(parent, RUN + "*")) {
      for (Path run : runs) {
        long process = Long.parseLong(run.getFileName().toString().substring(RUN.length()));
        if (process == ProcessHandle.current().pid() || ProcessHandle.of(process).isEmpty()) {
          Directories.delete(run);
        }
      }
    }
    RunDirectory run = new RunDirectory(parent.resolve(RUN + ProcessHandle.current().pid()), endMs);
    Runtime.getRuntime().addShutdownHook(run.abandoning);
    Files.createDirectory(run.path);
    return run;
  }

  public Path path() {
    return path;
  }

  public void delete() throws IOException {
    Directories.delete(path);
  }

  /** Keeps the directory if it was not deleted. Does nothing in a shutdown, which deletes it. */
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(abandoning);
    } catch (IllegalStateException _) {
      // The shutdown has begun.
    }
  }

  /**
   * Waits first: other hooks end the processes, and start programs that undo the setups of faults.
   */
  private void abandon() {
    try {
      if (!Poll.until(endMs, () -> processes().isEmpty())) {
        processes().forEach(ProcessHandle::destroyForcibly);
      }
      Poll.until(END_MS, this::isGone);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Executors whose driver has ended are no descendants any more, but have the path in a setting.
   */
  private List<ProcessHandle> processes() {
    Set<ProcessHandle> all = ProcessHandle.current().descendants().collect(Collectors.toSet());
    ProcessHandle.allProcesses().filter(this::isNamed).forEach(all::add);
    all.remove(ProcessHandle.current());
    return List.copyOf(all);
  }

  /**
   * Returns true for a JVM that works in the directory; not for a program that shows a log of it.
   */
  private boolean isNamed(ProcessHandle process) {
    if (!process.info().command().orElse("").endsWith("/java")) {
      return false;
    }
    try {
      Path arguments = Path.of("/proc", Long.toString(process.pid()), "cmdline");
      return Files.readString(arguments, StandardCharsets.ISO_8859_1).contains(path + "/");
    } catch (IOException e) {
      return false; // It has ended.
    }
  }

  /** Deletes the directory; returns true if nothing has made it again since the last call. */
  private boolean isGone() {
    if (Files.notExists(path, LinkOption.NOFOLLOW_LINKS)) {
      return true;
    }
    try {
      delete();
    } catch (IOException e) {
      // A thread of this process still writes to it, or another hook still unmounts a disk in it.
    }
    return false;
  }
}
