// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.commons.lang3.ArrayUtils;
import org.apache.commons.lang3.function.FailableBiFunction;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Runs a Spark driver in a new process, so that no run gets a JVM that an earlier run has warmed
 * up. The directory gets everything that the driver and its executors write: logs, Spark's local
 * directories, the executors' work directories and the results. A command makes one for each run,
 * uses it on its own thread, and deletes the directory after a success. A shutdown hook ends the
 * driver with this process.
 *
 * @param directory directory of this run, which must not exist
 * @param memory the JVM's option for its heap
 */
public record DriverProcess(Path directory, String memory) {
  /** Heap size: with 1 GB, TPC-DS q10 once lacked memory to build a broadcast. */
  private static final String MEMORY = "-Xmx2g";

  /** Last lines of the driver's standard error in an exception: room for a stack trace. */
  private static final int ERROR_LINES = 30;

  public DriverProcess(Path directory) {
    this(directory, MEMORY);
  }

  /**
   * Runs a driver to its end; it prints a line before it ends.
   *
   * @throws IOException if the driver failed; contains its last messages and the place of its logs
   */
  public void run(Class<?> main, Shuffle shuffle, ClusterConf cluster, String... arguments)
      throws IOException, InterruptedException {
    try (AnsweringProcess driver = of(main, shuffle, cluster, arguments)) {
      driver.end();
    }
  }

  /**
   * Runs a driver that measures to its end, and returns its result.
   *
   * @param main calls {@link #measure} with its last argument, the result file, which is added here
   */
  public <T> T result(
      Class<T> type, Class<?> main, Shuffle shuffle, ClusterConf cluster, String... arguments)
      throws IOException, InterruptedException {
    Path result = directory.resolve("result.json");
    run(main, shuffle, cluster, ArrayUtils.add(arguments, result.toString()));
    return JsonFile.read(result, type);
  }

  /**
   * Runs the driver's side of {@link #result}: jobs on executors that are all there.
   *
   * @param result file to which the result is written
   * @param jobs runs the jobs, whose stages are watched, and returns the result
   */
  public static void measure(
      String result, FailableBiFunction<JavaSparkContext, Stages, Object, Exception> jobs)
      throws Exception {
    PrintStream out = AnsweringProcess.claimOutput();
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf())) {
      Stages stages = new Stages();
      spark.sc().addSparkListener(stages);
      Executors.await(spark);
      JsonFile.write(Path.of(result), jobs.apply(spark, stages));
    }
    out.println("done");
  }

  /** Starts a driver that answers line by line; returns when it is ready. The caller closes it. */
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
    options.add(memory);
    options.add("-Dsluice.log=" + directory.resolve("driver.log"));
    options.add("-Dspark.local.dir=" + directory.resolve("local"));
    // A process that is killed leaves unpacked native libraries there.
    String temporary =
        "-Djava.io.tmpdir=" + Files.createDirectories(directory.resolve("temporary"));
    options.add(temporary);
    options.add("-Dspark.executor.defaultJavaOptions=\"" + temporary + "\"");
    cluster
        .of(shuffle, installation)
        .forEach((key, value) -> options.add("-D" + key + "=" + value));
    List<Path> classPath = new ArrayList<>(List.of(installation.programJar()));
    if (shuffle == Shuffle.SLUICE) {
      classPath.add(installation.sluiceJar());
    }
    Process process =
        new SparkJvm(directory.resolve("spark"), classPath, options)
            .running(main.getName(), List.of(arguments))
            .redirectError(directory.resolve("driver.err").toFile())
            .start();
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(process::destroy, "driver-destroyer"));
    } catch (IllegalStateException e) { // Ctrl-C came first, and its hooks miss this driver.
      process.destroyForcibly();
      throw new IOException("This command is ending", e);
    }
    return new AnsweringProcess(process, reason -> failure(shuffle, reason));
  }

  /** Returns an exception with the driver's last messages and the place of its logs. */
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

  /**
   * Spark's configuration for executor processes on this machine. It is the same for all shuffles,
   * apart from the settings that choose the shuffle. Commands create it; {@link DriverProcess}
   * passes it to the driver as system properties.
   *
   * @param executors number of executor processes
   * @param cores cores of an executor
   * @param memoryMb heap of an executor, in MiB
   * @param provider value of spark.shuffle.rdma.provider
   * @param further the user's or the benchmark's settings, for all shuffles; they override others
   */
  public record ClusterConf(
      int executors, int cores, long memoryMb, String provider, Map<String, String> further) {
    Map<String, String> of(Shuffle shuffle, Installation installation) {
      Map<String, String> conf = new LinkedHashMap<>();
      conf.put("spark.master", "local-cluster[%d,%d,%d]".formatted(executors, cores, memoryMb));
      conf.put("spark.app.name", "sluice-benchmark");
      conf.put("spark.executor.memory", memoryMb + "m");
      conf.put("spark.driver.host", "127.0.0.1");
      conf.put("spark.driver.bindAddress", "127.0.0.1");
      conf.put("spark.ui.enabled", "false");
      conf.put("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
      conf.put("spark.jars", installation.programJar().toUri().toString());
      // Otherwise executors on one machine read each other's files, and nothing is transferred.
      conf.put("spark.shuffle.readHostLocalDisk", "false");
      if (shuffle == Shuffle.SLUICE) {
        conf.put("spark.executor.extraClassPath", installation.sluiceJar().toString());
        conf.put("spark.shuffle.manager", "dev.sluice.spark.RdmaShuffleManager");
        conf.put("spark.shuffle.rdma.provider", provider);
      }
      conf.putAll(further);
      return conf;
    }
  }
}
