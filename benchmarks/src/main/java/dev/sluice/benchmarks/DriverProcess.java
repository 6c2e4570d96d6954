package dev.sluice.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs a Spark driver in a process of its own, so that no run finds a JVM that an earlier one has
 * warmed up. Everything that it and its executors write is under one directory: logs, Spark's local
 * directories, the executors' work directories and its results. Used by one thread; the process
 * dies with this one.
 *
 * @param directory must not exist
 */
public record DriverProcess(Path directory) {
  /** In 1 GB TPC-DS q10 once found no room to build a broadcast. */
  private static final String DRIVER_MEMORY = "-Xmx2g";

  private static final int ERROR_LINES = 30;

  /**
   * Runs one to its end, at which it prints a line.
   *
   * @throws IOException when the driver failed, with its last messages and where its logs are
   */
  public void run(Class<?> main, Shuffle shuffle, ClusterConf cluster, String... arguments)
      throws IOException, InterruptedException {
    try (AnsweringProcess driver = of(main, shuffle, cluster, arguments)) {
      driver.end();
    }
  }

  /** A driver that is ready to answer line by line; the caller closes it. */
  public AnsweringProcess start(
      Class<?> main, Shuffle shuffle, ClusterConf cluster, String... arguments)
      throws IOException, InterruptedException {
    AnsweringProcess driver = of(main, shuffle, cluster, arguments);
    try {
      driver.await();
      return driver;
    } catch (IOException | InterruptedException e) {
      driver.close();
      throw e;
    }
  }

  private AnsweringProcess of(
      Class<?> main, Shuffle shuffle, ClusterConf cluster, String... arguments) throws IOException {
    Installation installation = Installation.fromEnvironment();
    List<String> options = new ArrayList<>();
    options.add(DRIVER_MEMORY);
    options.add("-Dsluice.log=" + directory.resolve("driver.log"));
    options.add("-Dspark.local.dir=" + directory.resolve("local"));
    cluster
        .of(shuffle, installation)
        .forEach((key, value) -> options.add("-D" + key + "=" + value));
    List<Path> classPath = new ArrayList<>(List.of(installation.benchmarksJar()));
    if (shuffle == Shuffle.SLUICE) {
      classPath.add(installation.sluiceJar());
    }
    Process process =
        new SparkJvm(directory.resolve("spark"), classPath, options)
            .running(main.getName(), List.of(arguments))
            .redirectError(directory.resolve("driver.err").toFile())
            .start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroy, "driver-destroyer"));
    return new AnsweringProcess(process, reason -> failure(shuffle, reason));
  }

  /** With the driver's last messages, and where its logs are. */
  private IOException failure(Shuffle shuffle, String reason) {
    String errors;
    try {
      errors = String.join("\n", last(Files.readAllLines(directory.resolve("driver.err"))));
    } catch (IOException e) {
      errors = "driver.err cannot be read: " + e.getMessage();
    }
    return new IOException(
        "%s: driver %s; see driver.log and spark/work in %s%n%s"
            .formatted(shuffle.label(), reason, directory, errors));
  }

  private static List<String> last(List<String> lines) {
    return lines.subList(Math.max(0, lines.size() - ERROR_LINES), lines.size());
  }
}
