package dev.sluice.yarn;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The daemon's process, which is started again whenever it ends, until it is stopped; what it kept
 * it finds on its disks. It ends by itself when this process does, however that ends: its standard
 * input is a pipe to here. {@link SluiceNodeService} starts and stops it, a thread of its own
 * waits.
 */
final class DaemonProcess {
  private static final Logger LOG = LoggerFactory.getLogger(DaemonProcess.class);
  private static final long MIN_PAUSE_MS = 1_000;
  private static final long MAX_PAUSE_MS = 60_000;

  /** More than sluice.node.stopTimeout. */
  private static final long STOP_TIMEOUT_S = 15;

  private final File program;
  private final String javaHome;
  private final File log;
  private final List<String> arguments;

  private final Thread supervisor = new Thread(this::supervise, "sluice-node-supervisor");
  private List<Path> directories;

  /** Both guarded by this. */
  private Process process;

  private boolean stopped;

  /**
   * @param javaHome for the daemon; empty for this process's environment
   * @param arguments beside the directories
   */
  DaemonProcess(File program, String javaHome, File log, List<String> arguments) {
    this.program = program;
    this.javaHome = javaHome;
    this.log = log;
    this.arguments = arguments;
  }

  /**
   * Returns at once.
   *
   * @param localDirectories which the daemon has while they can be written to
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
              "The node's block server {}, and is started in {} ms; see {}", end, pauseMs, log);
          pause(pauseMs);
          pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
        }
      }
    } catch (InterruptedException e) {
      LOG.debug("The node's block server is supervised no more", e);
    }
  }

  /** Returns when it has ended, and says how. */
  private String run() throws InterruptedException {
    try {
      Process started = launch();
      return started == null ? "is stopped" : "has ended with " + started.waitFor();
    } catch (IOException e) {
      LOG.debug("The node's block server cannot be started", e);
      return "cannot be started: " + e.getMessage();
    }
  }

  private synchronized Process launch() throws IOException {
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
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log));
    if (!javaHome.isEmpty()) {
      builder.environment().put("JAVA_HOME", javaHome);
    }
    process = builder.start();
    LOG.info("The node's block server is started: {}", command);
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

  /** Returns when the process is gone. Idempotent. */
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
      }
    }
  }
}
