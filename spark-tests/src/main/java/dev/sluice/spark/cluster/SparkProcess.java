// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.cluster;

import dev.sluice.spark.cluster.SparkHome.JavaCommand;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A process of Spark with its log. A {@link StandaloneCluster} starts it, and closes it with all
 * others; tests wait for it and read its log. Any thread. Closing kills the process and its
 * descendants. The log stays.
 */
public final class SparkProcess implements AutoCloseable {
  private static final Duration KILL_TIMEOUT = Duration.ofSeconds(10);

  private final String name;
  private final Process process;
  private final Path log;

  private SparkProcess(String name, Process process, Path log) {
    this.name = name;
    this.process = process;
    this.log = log;
  }

  /** Starts the process in {@code directory}, which also gets its log, {@code NAME.log}. */
  static SparkProcess start(SparkHome home, Path directory, String name, JavaCommand command)
      throws IOException {
    Path log = Files.createDirectories(directory).resolve(name + ".log");
    ProcessBuilder builder =
        new ProcessBuilder(home.commandLine(command))
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    // The environment may come from another Spark, for example that of a test; drop its settings.
    builder.environment().keySet().removeIf(key -> key.startsWith("SPARK_"));
    builder.environment().putAll(home.environment());
    builder.environment().put("SPARK_LOCAL_DIRS", directory.resolve("local").toString());
    return new SparkProcess(name, builder.start(), log);
  }

  /**
   * Waits until the log matches.
   *
   * @throws IllegalStateException if the process ends or the time is over first
   */
  public MatchResult awaitLog(Pattern pattern, Duration timeout) throws InterruptedException {
    long deadline = System.nanoTime() + timeout.toNanos();
    while (System.nanoTime() - deadline < 0 && process.isAlive()) {
      Optional<MatchResult> match = find(pattern);
      if (match.isPresent()) {
        return match.get();
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
    return find(pattern).orElseThrow(() -> new IllegalStateException(missing(pattern, timeout)));
  }

  /**
   * Waits for the process to end.
   *
   * @throws IllegalStateException if the time is over first
   */
  public int await(Duration timeout) throws InterruptedException {
    if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new IllegalStateException(
          "%s has not ended in %s; its log is %s".formatted(name, timeout, log));
    }
    return process.exitValue();
  }

  /** Returns the output that the process has written so far. */
  public String log() {
    try {
      // Decode leniently, unlike readString: a log in progress may end inside a character.
      return new String(Files.readAllBytes(log), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("Reading the log of " + name, e);
    }
  }

  /** Returns the processes that this one started, and their descendants: a Worker's executors. */
  public List<ProcessHandle> descendants() {
    return process.descendants().toList();
  }

  @Override
  public void close() {
    List<ProcessHandle> descendants = descendants();
    process.destroyForcibly();
    descendants.forEach(ProcessHandle::destroyForcibly);
    try {
      process.waitFor(KILL_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Optional<MatchResult> find(Pattern pattern) {
    Matcher matcher = pattern.matcher(log());
    return matcher.find() ? Optional.of(matcher.toMatchResult()) : Optional.empty();
  }

  private String missing(Pattern pattern, Duration timeout) {
    return "%s has not logged \"%s\" in %s (%s); its log is %s"
        .formatted(name, pattern, timeout, process.isAlive() ? "alive" : "ended", log);
  }
}
