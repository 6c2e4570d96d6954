package dev.sluice.benchmarks;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.launcher.JavaModuleOptions;

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
    try (AnsweringProcess driver = start(main, shuffle, cluster, arguments)) {
      driver.end();
    }
  }

  /** A driver that answers line by line; the caller closes it. */
  public AnsweringProcess start(
      Class<?> main, Shuffle shuffle, ClusterConf cluster, String... arguments) throws IOException {
    return new AnsweringProcess(
        launch(main, shuffle, cluster, arguments), reason -> failure(shuffle, reason));
  }

  private Process launch(Class<?> main, Shuffle shuffle, ClusterConf cluster, String... arguments)
      throws IOException {
    Installation installation = Installation.fromEnvironment();
    Path home = Files.createDirectories(directory.resolve("spark"));
    Files.createSymbolicLink(home.resolve("jars"), installation.sparkJars());
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add(DRIVER_MEMORY);
    command.addAll(List.of(JavaModuleOptions.defaultModuleOptionArray()));
    command.add("-Dsluice.log=" + directory.resolve("driver.log"));
    command.add("-Dspark.local.dir=" + directory.resolve("local"));
    cluster
        .of(shuffle, installation)
        .forEach((key, value) -> command.add("-D" + key + "=" + value));
    command.addAll(List.of("-cp", classPath(installation, home, shuffle), main.getName()));
    command.addAll(List.of(arguments));
    Process process = builder(command, home).start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroy, "driver-destroyer"));
    return process;
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

  private static String classPath(Installation installation, Path home, Shuffle shuffle) {
    List<String> entries = new ArrayList<>();
    entries.add(installation.benchmarksJar().toString());
    if (shuffle.isOurs()) {
      entries.add(installation.sluiceJar().toString());
    }
    entries.add(home.resolve("jars") + File.separator + "*");
    return String.join(File.pathSeparator, entries);
  }

  private ProcessBuilder builder(List<String> command, Path home) {
    ProcessBuilder builder = new ProcessBuilder(command);
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("SPARK_") || name.startsWith("HADOOP_"));
    environment.put("SPARK_HOME", home.toString());
    // Without it a worker looks for the Scala version in a build directory, and never starts.
    environment.put("SPARK_SCALA_VERSION", "2.13");
    environment.put("SPARK_LOCAL_IP", "127.0.0.1");
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    return builder.redirectError(directory.resolve("driver.err").toFile());
  }
}
