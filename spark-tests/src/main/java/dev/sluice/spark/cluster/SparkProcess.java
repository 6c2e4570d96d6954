package dev.sluice.spark.cluster;

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
 * One process of Spark's and its log. Whoever starts it closes it, which kills it and the processes
 * that it started; for any thread.
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

  /** Starts it in {@code directory}, where it also leaves its log. */
  static SparkProcess start(SparkHome home, Path directory, String name, JavaCommand command)
      throws IOException {
    Path log = Files.createDirectories(directory).resolve(name + ".log");
    ProcessBuilder builder =
        new ProcessBuilder(home.commandLine(command))
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    // Settings of a Spark that surrounds us, a test for one, are not for this one.
    builder.environment().keySet().removeIf(key -> key.startsWith("SPARK_"));
    builder.environment().putAll(home.environment());
    builder.environment().put("SPARK_LOCAL_DIRS", directory.resolve("local").toString());
    return new SparkProcess(name, builder.start(), log);
  }

  /** Waits until the log has a match. */
  MatchResult awaitLog(Pattern pattern, Duration timeout) throws InterruptedException {
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

  /** Waits for the process's end. */
  public int await(Duration timeout) throws InterruptedException {
    if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new IllegalStateException(
          "%s has not ended in %s; its log is %s".formatted(name, timeout, log));
    }
    return process.exitValue();
  }

  /** Everything it has written so far. */
  public String log() {
    try {
      // Not as strict as readString: what is written meanwhile may end in mid-character.
      return new String(Files.readAllBytes(log), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("Reading the log of " + name, e);
    }
  }

  /** The processes it started, and theirs: a Worker's executors. */
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
