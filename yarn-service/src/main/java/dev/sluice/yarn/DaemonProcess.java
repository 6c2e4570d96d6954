// SPDX-License-Identifier: Apache-2.0
package dev.sluice.yarn;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the daemon as a child process and restarts it whenever it ends, until it is stopped. A
 * restarted daemon recovers its state from its disks. Its standard input is a pipe from this
 * process, so the daemon ends when this process ends for any reason. {@link SluiceNodeService}
 * starts and stops it, once each, on the NodeManager's threads; the supervisor thread of this class
 * launches the process and waits for it.
 */
final class DaemonProcess {
  private static final Logger LOG = LoggerFactory.getLogger(DaemonProcess.class);
  // The pause before a restart doubles, and is the minimum again after a run above the maximum.
  private static final long MIN_PAUSE_MS = 1_000;
  private static final long MAX_PAUSE_MS = 60_000;

  /** Longer than sluice.node.stopTimeout. */
  private static final long STOP_TIMEOUT_S = 15;

  /** Time for the end of a killed process, which keeps its files and their locks until then. */
  private static final long KILL_TIMEOUT_S = 5;

  private final File program;
  private final String javaHome;
  private final File log;

  /** Standard output, in which a JVM says why it does not start or has crashed. */
  private final File output;

  private final List<String> arguments;

  private final Thread supervisor = new Thread(this::supervise, "sluice-node-supervisor");
  private List<Path> directories = new ArrayList<>();

  /** The last launched process; null before the first. Guarded by this, like {@code stopped}. */
  private @Nullable Process process;

  private boolean stopped;

  /**
   * @param javaHome JAVA_HOME of the daemon; empty to inherit this process's environment
   * @param log file that the daemon writes, and replaces when it is large
   * @param arguments all arguments except the directories
   */
  DaemonProcess(File program, String javaHome, File log, List<String> arguments) {
    this.program = program;
    this.javaHome = javaHome;
    this.log = log;
    output = new File(log.getParentFile(), "sluice-node.out");
    this.arguments = arguments;
  }

  /**
   * Starts supervising and returns at once.
   *
   * @param localDirectories directories for the daemon; each launch passes only the writable ones
   */
  void start(List<Path> localDirectories) {
    directories = localDirectories;
    supervisor.setDaemon(true);
    supervisor.start();
  }

  private void supervise() {
    long pauseMs = MIN_PAUSE_MS;
    try {
      while (!isStopped()) {
        long startedNanos = System.nanoTime();
        String end = run();
        if (System.nanoTime() - startedNanos > TimeUnit.MILLISECONDS.toNanos(MAX_PAUSE_MS)) {
          pauseMs = MIN_PAUSE_MS;
        }
        if (!isStopped()) {
          LOG.error(
              "The node daemon {}; starting it again in {} ms; see {} and {}",
              end,
              pauseMs,
              log,
              output);
          pause(pauseMs);
          pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
        }
      }
    } catch (InterruptedException e) {
      LOG.debug("The node daemon is no longer supervised", e);
    }
  }

  /** Runs the daemon once and returns a description of its end. */
  private String run() throws InterruptedException {
    try {
      Process started = launch();
      return started == null ? "is stopped" : "has ended with exit status " + started.waitFor();
    } catch (IOException e) {
      LOG.debug("The node daemon cannot be started", e);
      return "cannot be started: " + e.getMessage();
    }
  }

  private synchronized @Nullable Process launch() throws IOException {
    if (stopped) {
      return null;
    }
    List<String> command = new ArrayList<>();
    command.add(program.toString());
    command.addAll(arguments);
    command.add(
        "sluice.node.directories="
            + directories.stream()
                .filter(Files::isWritable)
                .map(Path::toString)
                .collect(Collectors.joining(",")));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(output));
    builder.environment().put("SLUICE_NODE_APPENDER", "file");
    builder.environment().put("SLUICE_NODE_LOG", log.toString());
    if (!javaHome.isEmpty()) {
      builder.environment().put("JAVA_HOME", javaHome);
    }
    process = builder.start();
    LOG.info("The node daemon has been started: {}", command);
    return process;
  }

  private synchronized boolean isStopped() {
    return stopped;
  }

  private synchronized void pause(long ms) throws InterruptedException {
    long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
    for (long left = ms; left > 0 && !stopped; ) {
      wait(left);
      left = TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
    }
  }

  /**
   * Stops the daemon: waits up to 15 s for the end of its process, then kills it, and waits up to 5
   * s more. Idempotent.
   */
  void stop() throws InterruptedException {
    Process last;
    synchronized (this) {
      stopped = true;
      last = process;
      notifyAll();
    }
    if (last != null) {
      last.destroy();
      if (!last.waitFor(STOP_TIMEOUT_S, TimeUnit.SECONDS)) {
        last.destroyForcibly();
        last.waitFor(KILL_TIMEOUT_S, TimeUnit.SECONDS);
      }
    }
  }
}
