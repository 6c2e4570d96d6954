package dev.sluice.benchmarks;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;

/**
 * The block server of a node, as a process. All that is known of it is in files, so that another
 * process than the one that has started it can kill it and start it again; it ends with either.
 *
 * @param folder of its configuration, socket and log
 */
public record NodeProcess(Path folder) {
  private static final String HTTP = "sluice.node.http";
  private static final long START_MS = 60_000;

  /**
   * One that has not been started.
   *
   * @param directory in which it keeps map outputs
   * @param host by which readers reach it
   * @param provider sluice.node.provider
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

  /** A port that nobody listened on a moment ago. */
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

  /**
   * Returns when executors can enter.
   *
   * @param prefix of the command
   */
  public void start(String... prefix) throws IOException, InterruptedException {
    Files.deleteIfExists(socket());
    ProcessBuilder builder = command();
    builder.command().addAll(0, List.of(prefix));
    Path log = folder.resolve("node.log");
    Process process =
        builder.redirectErrorStream(true).redirectOutput(Redirect.appendTo(log.toFile())).start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "node-destroyer"));
    Files.writeString(pidFile(), Long.toString(process.pid()));
    Poll.until(START_MS, () -> Files.exists(socket()) || !process.isAlive());
    if (!Files.exists(socket())) {
      throw new IOException("the node's block server has not started; its log is " + log);
    }
  }

  private ProcessBuilder command() throws IOException {
    Path logging = Path.of(System.getenv("SLUICE_HOME"), "conf", "sluice-node.log4j2.properties");
    List<String> options = new ArrayList<>();
    options.addAll(List.of("-Xmx1g", "-Dlog4j2.configurationFile=" + logging));
    ProcessBuilder builder =
        new SparkJvm(
                folder.resolve("spark"),
                List.of(Installation.fromEnvironment().sluiceJar()),
                options)
            .running("dev.sluice.blocks.node.NodeMain", List.of("--conf", conf().toString()));
    builder.environment().put("MALLOC_MMAP_THRESHOLD_", "131072"); // as bin/sluice-node does
    return builder;
  }

  /** Of the process that was started last. */
  public long pid() throws IOException {
    return Long.parseLong(Files.readString(pidFile()));
  }

  private Optional<ProcessHandle> process() throws IOException {
    return Files.exists(pidFile()) ? ProcessHandle.of(pid()) : Optional.empty();
  }

  public boolean isAlive() throws IOException {
    return process().isPresent();
  }

  /** As kill -9 does; returns when it has gone. Nothing happens where it does not run. */
  public void kill() throws IOException {
    process()
        .ifPresent(
            running -> {
              running.destroyForcibly();
              running.onExit().join();
            });
  }

  /** One of its metrics, such as {@code queue_pairs_total}, of all applications together. */
  public long metric(String name) throws IOException {
    Properties conf = new Properties();
    conf.load(Files.newBufferedReader(conf()));
    URI metrics = URI.create("http://%s/metrics".formatted(conf.getProperty(HTTP)));
    String text = new String(metrics.toURL().openStream().readAllBytes());
    return text.lines()
        .filter(line -> line.startsWith("sluice_node_application_" + name + "{"))
        .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }
}
