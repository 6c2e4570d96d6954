// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import dev.sluice.spark.cluster.SparkHome;
import dev.sluice.spark.cluster.UnusedPort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The block server of this node, in a process of its own. The caller that starts it closes it,
 * which kills it. For one thread.
 */
public final class NodeProcess implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int APPLICATIONS = 8;
  private static final String SOCKET = "sluice.node.socket";
  private static final Path HOME = Path.of(System.getProperty("java.home"));
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
      daemonOf(List.of(java(HOME)), System.getProperty("java.class.path"));

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

  /**
   * Returns a builder of a daemon that keeps its configuration, log, socket and map outputs in a
   * directory, unless a setting says otherwise.
   */
  public static Builder in(Path directory) throws IOException {
    return new Builder(directory);
  }

  private static String java(Path home) {
    return home.resolve("bin/java").toString();
  }

  private static List<String> daemonOf(List<String> java, String classPath) {
    List<String> daemon = new ArrayList<>(java);
    daemon.addAll(List.of("-cp", classPath));
    daemon.addAll(List.of(JVM_OPTIONS.split(" ")));
    daemon.addAll(OPTIONS);
    daemon.add(MAIN);
    return daemon;
  }

  private static List<String> installedIn(Path home) {
    return List.of(home.resolve("bin/sluice-node").toString());
  }

  /** Starts daemons. Each method but {@link #start} returns this. */
  public static final class Builder {
    private final Path directory;
    private final Map<String, Object> settings = new LinkedHashMap<>();
    private List<String> launcher = List.of();
    private List<String> daemon = OWN;

    private Builder(Path directory) throws IOException {
      this.directory = directory;
      set("sluice.node.directories", directory);
      set(SOCKET, NodeProcess.socket(directory));
      set("sluice.node.host", "127.0.0.1");
      set("sluice.node.ports", ports());
      set("sluice.node.provider", "soft");
      set("sluice.node.minFreeBytes", "1m");
      set("sluice.node.http", "");
    }

    /**
     * Returns ports of its own: another node's server would take the default ports while this one
     * is away.
     */
    private static String ports() throws IOException {
      int first = UnusedPort.find();
      return first + "-" + (first + APPLICATIONS - 1);
    }

    /** Replaces a setting of the daemon. */
    public Builder set(String key, Object value) {
      settings.put(key, value);
      return this;
    }

    /** Starts it by a command to which its own one is added. */
    Builder by(List<String> command) {
      launcher = command;
      return this;
    }

    /** Starts it with other jars. */
    Builder withJars(String classPath) {
      daemon = daemonOf(List.of(java(HOME)), classPath);
      return this;
    }

    /**
     * Starts it with other jars on another JDK than the tests.
     *
     * @param home its JAVA_HOME; release 23 or newer
     */
    public Builder withJars(String classPath, Path home) {
      daemon = daemonOf(List.of(java(home), "--sun-misc-unsafe-memory-access=allow"), classPath);
      return this;
    }

    /** Starts another version of Sluice, which is installed in a folder. */
    public Builder installedIn(Path home) {
      daemon = NodeProcess.installedIn(home);
      return this;
    }

    /** Starts it, and waits until its socket is there. */
    public NodeProcess start() throws IOException, InterruptedException {
      List<String> lines = new ArrayList<>();
      settings.forEach((key, value) -> lines.add(key + "=" + value));
      Files.write(directory.resolve("node.properties"), lines);
      Path socket = Path.of(settings.get(SOCKET).toString());
      NodeProcess node = new NodeProcess(directory, socket, launcher, daemon);
      node.start();
      return node;
    }
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
