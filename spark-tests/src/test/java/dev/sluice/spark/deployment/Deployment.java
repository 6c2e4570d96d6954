// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import dev.sluice.spark.account.WorkDirectory;
import dev.sluice.spark.cluster.SparkHome;
import dev.sluice.spark.cluster.SparkProcess;
import dev.sluice.spark.cluster.StandaloneCluster;
import dev.sluice.spark.cluster.StandaloneCluster.Submission;
import dev.sluice.spark.cluster.UnusedPort;
import dev.sluice.spark.examples.GroupByExample;
import dev.sluice.spark.other.SparkJars;
import dev.sluice.spark.scenarios.LocalCluster;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A standalone cluster, mostly with one Worker for two executors, and {@link ShuffleApplication}
 * packed in a jar, as users have it. The caller that starts it closes it. For one thread.
 */
public final class Deployment implements AutoCloseable {
  private static final Duration RUN_TIMEOUT = Duration.ofMinutes(10);
  private static final Pattern CONNECTED =
      Pattern.compile("Connected to Spark cluster with app ID (\\S+)");
  private static final List<String> ONE_HOST = List.of("127.0.0.1");
  private static final Path JAVA = Path.of(System.getProperty("java.home"));
  private static final Path TARGET = Path.of(System.getProperty("sluice.target"));

  private final SparkHome home;
  private final Path directory;
  private final StandaloneCluster cluster;
  private final Path application;

  private Deployment(SparkHome home, Path directory, StandaloneCluster cluster, Path application) {
    this.home = home;
    this.directory = directory;
    this.cluster = cluster;
    this.application = application;
  }

  /**
   * @param name prefix of the name of its directory, which is in the build directory and has all
   *     logs
   * @param workerOptions system properties for the Worker
   */
  static Deployment start(String name, String... workerOptions)
      throws IOException, InterruptedException {
    return launch(name, SparkJars.onJava25(), JAVA, ONE_HOST, List.of(workerOptions));
  }

  /**
   * Starts a cluster with one Worker on each host.
   *
   * @param hosts addresses of this machine
   */
  public static Deployment startOnHosts(String name, String... hosts)
      throws IOException, InterruptedException {
    return launch(name, SparkJars.onJava25(), JAVA, List.of(hosts), List.of());
  }

  /** Starts a cluster with Spark's external shuffle service in the Worker. */
  static Deployment startWithService(String name, Map<String, String> service)
      throws IOException, InterruptedException {
    return start(
        name,
        service.entrySet().stream()
            .map(e -> "-D" + e.getKey() + "=" + e.getValue())
            .toArray(String[]::new));
  }

  /** Settings of the service that Worker and application must share. */
  static Map<String, String> service() throws IOException {
    return Map.of(
        "spark.shuffle.service.enabled",
        "true",
        "spark.shuffle.service.port",
        Integer.toString(UnusedPort.find()));
  }

  /** Starts a cluster with the drop-in jar among Spark's own jars, as in an image. */
  static Deployment startImage(String name) throws IOException, InterruptedException {
    return launch(
        name,
        SparkJars.onJava25() + File.pathSeparator + DropInJar.path(),
        JAVA,
        ONE_HOST,
        List.of());
  }

  /**
   * A Spark as it is released, with Master and Worker on another JVM than the drivers.
   *
   * @param java JAVA_HOME of Master and Worker
   */
  static Deployment startOn(Path java, String name) throws IOException, InterruptedException {
    return launch(name, SparkJars.asReleased(), java, ONE_HOST, List.of());
  }

  /**
   * A Spark as it is released, with Master, Worker and drivers on another JVM.
   *
   * @param java JAVA_HOME of all
   */
  static Deployment startAllOn(Path java, String name) throws IOException, InterruptedException {
    return launch(name, SparkJars.asReleased(), java, java, ONE_HOST, List.of());
  }

  private static Deployment launch(
      String name, String jars, Path java, List<String> hosts, List<String> workerOptions)
      throws IOException, InterruptedException {
    return launch(name, jars, java, JAVA, hosts, workerOptions);
  }

  private static Deployment launch(
      String name,
      String jars,
      Path java,
      Path driverJava,
      List<String> hosts,
      List<String> workerOptions)
      throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory(TARGET, name + "-");
    SparkHome home = SparkHome.create(directory.resolve("spark-home"), jars).onJava(driverJava);
    StandaloneCluster cluster =
        StandaloneCluster.start(home.onJava(java), directory, hosts, 2, "2g", workerOptions);
    return new Deployment(home, directory, cluster, pack(directory.resolve("application.jar")));
  }

  /**
   * @param log of the driver
   * @param executorsLaunched by the Master, including replacements
   */
  public record Result(int exitCode, String log, long executorsLaunched) {
    List<Round> rounds() {
      return Round.of(log);
    }

    String applicationId() {
      Matcher connected = CONNECTED.matcher(log);
      if (!connected.find()) {
        throw new IllegalStateException("The application was not connected: " + end());
      }
      return connected.group(1);
    }

    /** The end of the driver's log, which says why it failed. */
    public String end() {
      return log.substring(Math.max(0, log.length() - 8_000));
    }
  }

  /** Submits with the drop-in jar by --jars only. */
  Result submitWithJars(String name, Map<String, String> settings, String work)
      throws IOException, InterruptedException {
    return run(name, settings, work, List.of(DropInJar.path()), List.of());
  }

  /**
   * Runs {@link ShuffleApplication#LEAVE} with two executors, which leave after a moment without
   * work.
   */
  Result submitLeaving(Map<String, String> settings) throws IOException, InterruptedException {
    return submitWithJars("leave", leaving(settings), ShuffleApplication.LEAVE);
  }

  /**
   * Starts {@link ShuffleApplication#READ_AGAIN} with two executors, which leave after a moment
   * without work.
   *
   * @param jar the drop-in jar
   * @return the driver, which this closes, too
   */
  SparkProcess startReadingAgain(String name, Path jar, Map<String, String> settings)
      throws IOException {
    return cluster.submit(
        home,
        name,
        submission(leaving(settings), ShuffleApplication.READ_AGAIN, List.of(jar), List.of()));
  }

  /** Lets the applications of {@link #startReadingAgain} go on for the first or second time. */
  void goOn(int time) throws IOException {
    Files.createFile(directory.resolve(ShuffleApplication.goOn(time)));
  }

  private static Map<String, String> leaving(Map<String, String> settings) {
    Map<String, String> all = new LinkedHashMap<>(settings);
    all.put("spark.dynamicAllocation.enabled", "true");
    all.put("spark.dynamicAllocation.initialExecutors", "2");
    all.put("spark.dynamicAllocation.maxExecutors", "2");
    // Longer than the second executor may take to start after the first.
    all.put("spark.dynamicAllocation.executorIdleTimeout", "8s");
    all.put(LocalCluster.REMOVE_DELAY, "0");
    return all;
  }

  /** Submits without jars: the drop-in jar is part of the image. */
  Result submit(String name, Map<String, String> settings, String work)
      throws IOException, InterruptedException {
    return run(name, settings, work, List.of(), List.of());
  }

  /** Submits with the drop-in jar on the class paths of driver and executors. */
  Result submitWithClassPath(String name, Map<String, String> settings, String work)
      throws IOException, InterruptedException {
    return run(name, settings, work, List.of(), List.of(DropInJar.path()));
  }

  /**
   * Submits with the drop-in jar by --jars, and with the jars that this application alone needs on
   * JDK 25.
   */
  Result submitOnJava25(String name, Map<String, String> settings, String work)
      throws IOException, InterruptedException {
    return run(name, settings, work, List.of(DropInJar.path()), SparkJars.hadoopOnJava25());
  }

  /**
   * Submits the doctor, which is in the drop-in jar itself.
   *
   * @param settings a key with an empty value is not set
   * @param classPath of driver and executors, in addition to Spark's jars
   */
  public Result submitDoctor(
      String name, Map<String, String> settings, List<Path> classPath, String... options)
      throws IOException, InterruptedException {
    String main = "dev.sluice.spark.doctor.Doctor";
    return run(
        name,
        new Submission(
            main, DropInJar.path(), List.of(options), conf(settings), List.of(), classPath));
  }

  /** Submits the example for users, from its own jar, with the drop-in jar by --jars. */
  Result submitExample(String name) throws IOException, InterruptedException {
    Class<?> main = GroupByExample.class;
    Path jar = Path.of(main.getProtectionDomain().getCodeSource().getLocation().getPath());
    return submitProgram(name, Map.of(), main.getName(), jar);
  }

  /** Submits a class of another jar, with the drop-in jar by --jars. */
  Result submitProgram(String name, Map<String, String> settings, String main, Path jar)
      throws IOException, InterruptedException {
    return run(
        name,
        new Submission(main, jar, List.of(), conf(settings), List.of(DropInJar.path()), List.of()));
  }

  /**
   * Directory of a Worker. It has a folder for each application, and in that one for each executor.
   */
  Path workOf(int worker) {
    return directory.resolve("worker-" + worker).resolve("work");
  }

  /** The address of a history server that has nothing but Spark's jars. */
  URI startHistoryServer(Path eventLogs) throws IOException, InterruptedException {
    return cluster.startHistoryServer(eventLogs);
  }

  /** The Spark of the drivers. */
  SparkHome home() {
    return home;
  }

  /** The jar with {@link ShuffleApplication}. */
  Path application() {
    return application;
  }

  /** A new directory for an application. */
  Path directory(String name) throws IOException {
    return Files.createDirectories(directory.resolve(name));
  }

  /** The output of the executors. */
  WorkDirectory work() {
    return new WorkDirectory(directory.resolve(ShuffleApplication.WORK));
  }

  @Override
  public void close() {
    cluster.close();
  }

  private Result run(
      String name, Map<String, String> settings, String work, List<Path> jars, List<Path> classPath)
      throws IOException, InterruptedException {
    return run(name, submission(settings, work, jars, classPath));
  }

  private Submission submission(
      Map<String, String> settings, String work, List<Path> jars, List<Path> classPath) {
    String main = ShuffleApplication.class.getName();
    return new Submission(main, application, List.of(work), conf(settings), jars, classPath);
  }

  private Result run(String name, Submission submission) throws IOException, InterruptedException {
    long launchedBefore = executorsLaunched();
    SparkProcess driver = cluster.submit(home, name, submission);
    int exitCode = driver.await(RUN_TIMEOUT);
    return new Result(exitCode, driver.log(), executorsLaunched() - launchedBefore);
  }

  private long executorsLaunched() {
    return cluster
        .master()
        .log()
        .lines()
        .filter(line -> line.contains("Launching executor"))
        .count();
  }

  private static Map<String, String> conf(Map<String, String> settings) {
    Map<String, String> conf = new LinkedHashMap<>();
    conf.put("spark.shuffle.manager", System.getProperty("spark.shuffle.manager"));
    conf.put("spark.shuffle.rdma.provider", "soft");
    conf.put("spark.shuffle.readHostLocalDisk", "false");
    conf.put("spark.executor.cores", "1");
    conf.put("spark.executor.memory", "512m");
    conf.put(LocalCluster.EXECUTOR_OPTIONS, System.getProperty("sluice.executor.options"));
    // Start no task before both executors are registered, however long that takes: one would have
    // all map outputs.
    conf.put("spark.cores.max", "2");
    conf.put("spark.scheduler.minRegisteredResourcesRatio", "1.0");
    conf.put("spark.scheduler.maxRegisteredResourcesWaitingTime", "3min");
    conf.put("spark.ui.enabled", "false");
    conf.putAll(LocalCluster.PATIENCE);
    conf.putAll(settings);
    conf.values().removeIf(String::isEmpty);
    return conf;
  }

  /** Packs the test classes without those of the drop-in jar and of Spark. */
  private static Path pack(Path jar) throws IOException {
    Path classes = TARGET.resolve("test-classes");
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file);
        Stream<Path> files = Files.walk(classes.resolve("dev"))) {
      for (Path path : files.filter(Files::isRegularFile).toList()) {
        out.putNextEntry(new JarEntry(classes.relativize(path).toString()));
        Files.copy(path, out);
      }
    }
    return jar;
  }
}
