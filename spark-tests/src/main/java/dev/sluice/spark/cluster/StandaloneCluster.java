// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.cluster;

import dev.sluice.spark.cluster.SparkHome.JavaCommand;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A standalone cluster on this machine: a Master and Workers, each in a process of its own. Tests
 * start and use it on one thread. The caller that starts it closes it, which kills all processes,
 * including executors. A shutdown hook closes it, too, if a test ends early.
 */
public final class StandaloneCluster implements AutoCloseable {
  private static final Duration START_TIMEOUT = Duration.ofMinutes(5);
  private static final Pattern MASTER_URL = Pattern.compile("Starting Spark master at (\\S+)");
  private static final Pattern REGISTERED = Pattern.compile("Successfully registered with master");

  private final SparkHome home;
  private final Path directory;
  private final List<SparkProcess> processes = new ArrayList<>();
  private final List<SparkProcess> workers = new ArrayList<>();
  private final List<HistoryServer> historyServers = new ArrayList<>();

  // Set while the cluster starts, before it is handed out.
  @SuppressWarnings("NullAway.Init")
  private SparkProcess master;

  @SuppressWarnings("NullAway.Init")
  private String masterUrl;

  private StandaloneCluster(SparkHome home, Path directory) {
    this.home = home;
    this.directory = directory;
    Runtime.getRuntime().addShutdownHook(new Thread(this::close));
  }

  /**
   * Starts a Master and one Worker per host.
   *
   * @param directory for logs and the Workers' directories
   * @param hosts addresses of this machine. Each gets a Worker with {@code cores} cores and {@code
   *     memory} in Spark's notation
   * @param workerOptions JVM options of the Workers, mainly system properties with Spark's keys
   */
  public static StandaloneCluster start(
      SparkHome home,
      Path directory,
      List<String> hosts,
      int cores,
      String memory,
      List<String> workerOptions)
      throws IOException, InterruptedException {
    StandaloneCluster cluster = new StandaloneCluster(home, directory);
    try {
      cluster.startMaster();
      for (String host : hosts) {
        cluster.startWorker(host, cores, memory, workerOptions);
      }
      for (SparkProcess worker : cluster.workers) {
        worker.awaitLog(REGISTERED, START_TIMEOUT);
      }
      return cluster;
    } catch (IOException | InterruptedException | RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private void startMaster() throws IOException, InterruptedException {
    List<String> arguments = List.of("--host", "127.0.0.1", "--port", "0", "--webui-port", "0");
    master = start(directory, "master", deploy("master.Master", List.of(), arguments));
    masterUrl = master.awaitLog(MASTER_URL, START_TIMEOUT).group(1);
  }

  private void startWorker(String host, int cores, String memory, List<String> options)
      throws IOException {
    String name = "worker-" + workers.size();
    Path own = directory.resolve(name);
    List<String> arguments = new ArrayList<>(List.of("--host", host, "--webui-port", "0"));
    arguments.addAll(List.of("--cores", Integer.toString(cores), "--memory", memory));
    arguments.addAll(List.of("--work-dir", own.resolve("work").toString(), masterUrl));
    workers.add(start(own, name, deploy("worker.Worker", options, arguments)));
  }

  /**
   * Starts a history server with Spark's jars alone. This cluster closes it, too.
   *
   * @param eventLogs directory of the applications' event logs
   * @return address of the history server
   */
  public URI startHistoryServer(Path eventLogs) throws IOException, InterruptedException {
    HistoryServer server = HistoryServer.start(home, directory, "history", eventLogs, List.of());
    historyServers.add(server);
    return server.address();
  }

  private static JavaCommand deploy(String name, List<String> options, List<String> arguments) {
    return new JavaCommand(List.of(), options, "org.apache.spark.deploy." + name, arguments);
  }

  /**
   * Starts an application.
   *
   * @param name name of its log
   * @return the driver's process, which this cluster closes, too
   */
  public SparkProcess submit(String name, Submission submission) throws IOException {
    return submit(home, name, submission);
  }

  /** Starts an application with another Spark or on another JVM than the cluster's. */
  public SparkProcess submit(SparkHome client, String name, Submission submission)
      throws IOException {
    return start(client, directory, name, submission.command(masterUrl));
  }

  public SparkProcess master() {
    return master;
  }

  /** Returns the Workers in the order of their names. Their descendants are the executors. */
  public List<SparkProcess> workers() {
    return List.copyOf(workers);
  }

  @Override
  public void close() {
    historyServers.forEach(HistoryServer::close);
    processes.reversed().forEach(SparkProcess::close);
  }

  private SparkProcess start(Path where, String name, JavaCommand command) throws IOException {
    return start(home, where, name, command);
  }

  private SparkProcess start(SparkHome with, Path where, String name, JavaCommand command)
      throws IOException {
    SparkProcess process = SparkProcess.start(with, where, name, command);
    processes.add(process);
    return process;
  }

  /**
   * An application for SparkSubmit, in client mode. Tests make it, {@link StandaloneCluster} starts
   * it. Immutable. Further jars come by --jars or by class path, which end up in two different
   * class loaders.
   *
   * @param mainClass a class of {@code jar}
   * @param conf Spark's configuration
   * @param jars jars that Spark distributes to driver and executors (--jars)
   * @param classPath entries that precede Spark's jars on driver and executors
   */
  public record Submission(
      String mainClass,
      Path jar,
      List<String> arguments,
      Map<String, String> conf,
      List<Path> jars,
      List<Path> classPath) {

    JavaCommand command(String masterUrl) {
      List<String> submit = new ArrayList<>(List.of("--master", masterUrl, "--class", mainClass));
      Map<String, String> settings = new TreeMap<>(conf);
      if (!classPath.isEmpty()) {
        settings.put("spark.executor.extraClassPath", join(classPath, ":"));
      }
      settings.forEach((key, value) -> submit.addAll(List.of("--conf", key + "=" + value)));
      if (!jars.isEmpty()) {
        submit.addAll(List.of("--jars", join(jars, ",")));
      }
      submit.add(jar.toString());
      submit.addAll(arguments);
      // SparkSubmit is started directly, and a running JVM ignores --driver-class-path.
      return new JavaCommand(classPath, List.of(), "org.apache.spark.deploy.SparkSubmit", submit);
    }

    private static String join(List<Path> paths, String separator) {
      return paths.stream().map(Path::toString).collect(Collectors.joining(separator));
    }
  }
}
