// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.lang.ProcessBuilder.Redirect;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;

/**
 * A node daemon as a process, for the fault harness, {@code bench node} and tests. All its state is
 * in files, so that another process than its starter can kill it and start it again: the fault
 * harness starts it in the command and strikes it in the driver. One thread at a time may start or
 * kill it. Its starter kills it; a shutdown hook does if that process ends first.
 *
 * @param folder folder of its configuration, socket and log
 */
public record NodeProcess(Path folder) {
  private static final String HTTP = "sluice.node.http";

  /** Time for the daemon to bind its socket. */
  private static final long START_MS = 60_000;

  /**
   * Writes the configuration of a node daemon without starting it.
   *
   * @param directory directory in which it keeps map outputs
   * @param host address by which readers reach it
   * @param provider value of sluice.node.provider
   */
  public static NodeProcess configure(Path folder, Path directory, String host, String provider)
      throws IOException {
    Files.createDirectories(folder);
    Files.createDirectories(directory);
    NodeProcess node = new NodeProcess(folder);
    Files.write(
        node.conf(),
        List.of(
            "sluice.node.directories=" + directory,
            "sluice.node.socket=" + node.socket(),
            "sluice.node.host=" + host,
            "sluice.node.provider=" + provider,
            "sluice.node.minFreeBytes=64m",
            "%s=%s:%d".formatted(HTTP, host, freePort())));
    return node;
  }

  /** Returns a port on which no process listened a moment ago. */
  public static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0)) {
      return free.getLocalPort();
    }
  }

  private Path conf() {
    return folder.resolve("node.properties");
  }

  private Path pidFile() {
    return folder.resolve("node.pid");
  }

  public Path socket() {
    return folder.resolve("node.sock");
  }

  /** Starts the daemon; returns when executors can register with it. */
  public void start() throws IOException, InterruptedException {
    Files.deleteIfExists(socket());
    Path log = folder.resolve("node.log");
    Process process =
        command().redirectErrorStream(true).redirectOutput(Redirect.appendTo(log.toFile())).start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "node-destroyer"));
    Files.writeString(pidFile(), Long.toString(process.pid()));
    Poll.until(START_MS, () -> Files.exists(socket()) || !process.isAlive());
    if (!Files.exists(socket())) {
      kill(); // It may hang, and its starter has nothing to end.
      throw new IOException("the node daemon did not start; see its log " + log);
    }
  }

  private ProcessBuilder command() throws IOException {
    Path logging = Path.of(System.getenv("SLUICE_HOME"), "conf", "sluice-node.log4j2.properties");
    Installation installation = Installation.fromEnvironment();
    List<String> options = new ArrayList<>();
    options.addAll(List.of("-Xmx1g", "-Dlog4j2.configurationFile=" + logging));
    ProcessBuilder builder =
        new SparkJvm(
                folder.resolve("spark"),
                List.of(installation.nodeJar(), installation.sluiceJar()),
                options)
            .running("dev.sluice.node.NodeMain", List.of("--conf", conf().toString()));
    builder.environment().put("MALLOC_MMAP_THRESHOLD_", "131072"); // as bin/sluice-node does
    return builder;
  }

  /** Returns the process id of the daemon that was started last. */
  public long pid() throws IOException {
    return Long.parseLong(Files.readString(pidFile()));
  }

  private Optional<ProcessHandle> process() throws IOException {
    return Files.exists(pidFile()) ? ProcessHandle.of(pid()) : Optional.empty();
  }

  /** Kills the daemon as kill -9 does, and waits for its end. Does nothing if it does not run. */
  public void kill() throws IOException {
    process()
        .ifPresent(
            running -> {
              running.destroyForcibly();
              running.onExit().join();
            });
  }

  /** Returns a metric, such as {@code map_outputs}, summed over all applications. */
  public long metric(String name) throws IOException {
    Properties conf = new Properties();
    try (Reader file = Files.newBufferedReader(conf())) {
      conf.load(file);
    }
    URI metrics = URI.create("http://%s/metrics".formatted(conf.getProperty(HTTP)));
    String text;
    try (InputStream answer = metrics.toURL().openStream()) {
      text = new String(answer.readAllBytes(), StandardCharsets.UTF_8);
    }
    return text.lines()
        .filter(line -> line.startsWith("sluice_node_application_" + name + "{"))
        .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }
}
