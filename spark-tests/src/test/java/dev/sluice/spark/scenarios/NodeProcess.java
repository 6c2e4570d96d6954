// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import dev.sluice.spark.cluster.SparkHome;
import dev.sluice.spark.cluster.UnusedPort;
import dev.sluice.testkit.OtherUser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The block server of this node, in a process of its own. The caller that starts it closes it,
 * which kills it. For one thread.
 */
public final class NodeProcess implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int APPLICATIONS = 8;
  private static final String MAIN = "dev.sluice.node.NodeMain";
  private static final String JVM_OPTIONS = "-Xmx256m " + String.join(" ", SparkHome.SHORT_LIVED);

  /** Options of {@code bin/sluice-node}. */
  private static final List<String> OPTIONS =
      List.of(
          "--enable-native-access=ALL-UNNAMED",
          "--add-opens=java.base/java.nio=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
          "-Dio.netty.tryReflectionSetAccessible=true",
          "-Dlog4j2.configurationFile="
              + Path.of(System.getProperty("sluice.jar"))
                  .resolveSibling("../../conf/sluice-node.log4j2.properties"));

  /** Command of the daemon that the tests are built with. */
  private static final List<String> OWN =
      daemonOf(
          List.of(
              java(Path.of(System.getProperty("java.home"))),
              "-cp",
              System.getProperty("java.class.path")));

  private final Path directory;
  private final Path socket;
  private final List<String> launcher;
  private List<String> daemon;
  private Process process;

  private NodeProcess(Path directory, Path socket, List<String> launcher, List<String> daemon) {
    this.directory = directory;
    this.socket = socket;
    this.launcher = launcher;
    this.daemon = daemon;
  }

  /** Starts one that keeps map outputs in a directory, in which executors have theirs as well. */
  public static NodeProcess start(Path directory) throws IOException, InterruptedException {
    return start(directory, socket(directory), "127.0.0.1");
  }

  /**
   * The same, on another JDK than the tests and with other jars.
   *
   * @param home its JAVA_HOME; release 23 or newer
   */
  public static NodeProcess startOn(Path home, String classPath, Path directory)
      throws IOException, InterruptedException {
    List<String> java =
        List.of(java(home), "--sun-misc-unsafe-memory-access=allow", "-cp", classPath);
    return startAs(daemonOf(java), directory);
  }

  /**
   * The same, of another version of Sluice.
   *
   * @param home folder in which the daemon of that version is installed
   */
  public static NodeProcess startOf(Path home, Path directory)
      throws IOException, InterruptedException {
    return startAs(installedIn(home), directory);
  }

  private static NodeProcess startAs(List<String> daemon, Path directory)
      throws IOException, InterruptedException {
    return start(
        directory, directory, socket(directory), "127.0.0.1", List.of(), List.of(), daemon);
  }

  /**
   * The same, as another user than the tests, for executors of yet another one.
   *
   * @param directory for its configuration and log
   * @param data directory for map outputs and the socket
   */
  static NodeProcess startAs(OtherUser user, String classPath, Path directory, Path data)
      throws IOException, InterruptedException {
    return start(
        directory,
        data,
        socket(data),
        "127.0.0.1",
        user.launcher(),
        List.of("sluice.node.otherUsers=true"),
        daemonOf(List.of(java(Path.of(System.getProperty("java.home"))), "-cp", classPath)));
  }

  private static String java(Path home) {
    return home.resolve("bin/java").toString();
  }

  private static List<String> daemonOf(List<String> java) {
    List<String> daemon = new ArrayList<>(java);
    daemon.addAll(List.of(JVM_OPTIONS.split(" ")));
    daemon.addAll(OPTIONS);
    daemon.add(MAIN);
    return daemon;
  }

  private static List<String> installedIn(Path home) {
    return List.of(home.resolve("bin/sluice-node").toString());
  }

  /**
   * The same, with a limit.
   *
   * @param maxMapOutputs how many map outputs it takes
   */
  static NodeProcess start(Path directory, int maxMapOutputs)
      throws IOException, InterruptedException {
    return startWith(directory, "sluice.node.maxMapOutputs=" + maxMapOutputs);
  }

  /**
   * The same, with pages over HTTP.
   *
   * @param port for the pages
   */
  static NodeProcess startWithPages(Path directory, int port)
      throws IOException, InterruptedException {
    return startWith(directory, "sluice.node.http=127.0.0.1:" + port);
  }

  /**
   * The same, with a limit and faults.
   *
   * @param maxMapOutputs how many map outputs it takes
   * @param faults of its software device
   */
  static NodeProcess start(Path directory, int maxMapOutputs, String faults)
      throws IOException, InterruptedException {
    return startWith(
        directory,
        "sluice.node.maxMapOutputs=" + maxMapOutputs,
        "sluice.node.soft.faults=" + faults);
  }

  /** The same, with settings: lines of its file. */
  public static NodeProcess startWith(Path directory, String... settings)
      throws IOException, InterruptedException {
    return start(
        directory, directory, socket(directory), "127.0.0.1", List.of(), List.of(settings), OWN);
  }

  /**
   * The same, of several nodes.
   *
   * @param host this one's address
   */
  public static NodeProcess start(Path directory, Path socket, String host)
      throws IOException, InterruptedException {
    return start(directory, directory, socket, host, List.of());
  }

  /**
   * Starts one with its configuration and log in a directory.
   *
   * @param data directory for map outputs
   * @param host address for readers
   * @param launcher command that starts the daemon; empty for none
   */
  static NodeProcess start(
      Path directory, Path data, Path socket, String host, List<String> launcher)
      throws IOException, InterruptedException {
    return start(directory, data, socket, host, launcher, List.of(), OWN);
  }

  private static NodeProcess start(
      Path directory,
      Path data,
      Path socket,
      String host,
      List<String> launcher,
      List<String> settings,
      List<String> daemon)
      throws IOException, InterruptedException {
    List<String> lines =
        new ArrayList<>(
            List.of(
                "sluice.node.directories=" + data,
                "sluice.node.socket=" + socket,
                "sluice.node.host=" + host,
                "sluice.node.ports=" + ports(),
                "sluice.node.provider=soft",
                "sluice.node.minFreeBytes=1m",
                "sluice.node.http="));
    lines.addAll(settings); // The last value of a key counts.
    Files.write(directory.resolve("node.properties"), lines);
    NodeProcess node = new NodeProcess(directory, socket, launcher, daemon);
    node.start();
    return node;
  }

  /**
   * Ports of its own: another node's server would take the default ports while this one is away.
   */
  private static String ports() throws IOException {
    int first = UnusedPort.find();
    return first + "-" + (first + APPLICATIONS - 1);
  }

  private void start() throws IOException, InterruptedException {
    Files.deleteIfExists(socket);
    ProcessBuilder builder =
        new ProcessBuilder(command())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()));
    builder.environment().put("SLUICE_NODE_JAVA_OPTIONS", JVM_OPTIONS); // if bin/sluice-node starts
    process = builder.start();
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (!Files.exists(socket)) {
      if (!process.isAlive() || System.nanoTime() - deadline > 0) {
        close();
        throw new IOException("The node daemon has not started: " + Files.readString(log()));
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private List<String> command() {
    List<String> command = new ArrayList<>(launcher);
    command.addAll(daemon);
    command.addAll(List.of("--conf", directory.resolve("node.properties").toString()));
    return command;
  }

  private Path log() {
    return directory.resolve("node.log");
  }

  /** Everything that it has printed so far, also before a restart. */
  public String output() throws IOException {
    return Files.readString(log());
  }

  /** The socket of a server that keeps map outputs in a directory. */
  public static Path socket(Path directory) {
    return directory.resolve("node.sock");
  }

  /** Kills it and starts it again. */
  void restart() throws IOException, InterruptedException {
    kill();
    start();
  }

  /** Stops it, and starts the daemon of another installation with the same files. */
  public void replaceBy(Path home) throws IOException, InterruptedException {
    replaceBy(installedIn(home));
  }

  /** Stops it, and starts the daemon that the tests are built with, with the same files. */
  public void replaceByOwn() throws IOException, InterruptedException {
    replaceBy(OWN);
  }

  private void replaceBy(List<String> other) throws IOException, InterruptedException {
    process.destroy();
    if (!process.waitFor(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new IOException("The node daemon has not ended in " + TIMEOUT);
    }
    daemon = other;
    start();
  }

  /** Sends it STOP or CONT. */
  void signal(String name) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + name, Long.toString(pid())).start().waitFor();
  }

  long pid() {
    return process.pid();
  }

  @Override
  public void close() {
    kill();
  }

  void kill() {
    process.destroyForcibly();
    try {
      process.waitFor(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
