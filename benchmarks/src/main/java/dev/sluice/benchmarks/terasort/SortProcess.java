package dev.sluice.benchmarks.terasort;

import dev.sluice.benchmarks.Installation;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.launcher.JavaModuleOptions;

/**
 * Runs one sort in a driver process of its own, so that no run finds a JVM that an earlier one has
 * warmed up. Everything that it and its executors write is under one directory: logs, Spark's local
 * directories, the executors' work directories and the output. Used by one thread, which waits for
 * the end; the process dies with this one.
 */
final class SortProcess {
  private static final long TIMEOUT_MINUTES = 60;
  private static final String DRIVER_MEMORY = "-Xmx1g";
  private static final int ERROR_LINES = 30;

  private final Installation installation;
  private final Path directory;

  SortProcess(Installation installation, Path directory) {
    this.installation = installation;
    this.directory = directory;
  }

  Path output() {
    return directory.resolve("output");
  }

  /**
   * @param label names the sort in its progress
   * @throws IOException when the sort failed; says where the logs are
   */
  SortResult run(Path input, int reducers, String label, Shuffle shuffle, SortConf conf)
      throws IOException, InterruptedException {
    Path home = Files.createDirectories(directory.resolve("spark"));
    Files.createSymbolicLink(home.resolve("jars"), installation.sparkJars());
    Path result = directory.resolve("result.json");
    Path log = directory.resolve("driver.log");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add(DRIVER_MEMORY);
    command.addAll(List.of(JavaModuleOptions.defaultModuleOptionArray()));
    command.add("-Dsluice.log=" + log);
    command.add("-Dspark.local.dir=" + directory.resolve("local"));
    conf.of(shuffle).forEach((key, value) -> command.add("-D" + key + "=" + value));
    command.addAll(List.of("-cp", classPath(home, shuffle), SortJob.class.getName()));
    command.addAll(
        List.of(
            input.toString(),
            output().toString(),
            Integer.toString(reducers),
            result.toString(),
            label));
    int status = await(builder(command, home).start());
    if (status != 0) {
      List<String> errors = Files.readAllLines(directory.resolve("driver.err"));
      throw new IOException(
          "%s: driver ended with status %d; see driver.log and spark/work in %s%n%s"
              .formatted(label, status, directory, String.join("\n", last(ERROR_LINES, errors))));
    }
    return SortResult.read(result);
  }

  private static List<String> last(int count, List<String> lines) {
    return lines.subList(Math.max(0, lines.size() - count), lines.size());
  }

  private String classPath(Path home, Shuffle shuffle) {
    List<String> entries = new ArrayList<>();
    entries.add(installation.benchmarksJar().toString());
    if (shuffle == Shuffle.SLUICE) {
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

  private static int await(Process process) throws IOException, InterruptedException {
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroy, "sort-destroyer"));
    Thread.startVirtualThread(() -> relayProgress(process));
    try {
      if (!process.waitFor(TIMEOUT_MINUTES, TimeUnit.MINUTES)) {
        throw new IOException("the sort did not end within " + TIMEOUT_MINUTES + " minutes");
      }
      return process.exitValue();
    } finally {
      process.destroy();
    }
  }

  /** Standard output of the driver is its progress; standard output of this process the result. */
  private static void relayProgress(Process process) {
    try (InputStream progress = process.getInputStream()) {
      progress.transferTo(System.err);
    } catch (IOException e) {
      System.err.println("progress of the sort is lost: " + e.getMessage());
    }
  }
}
