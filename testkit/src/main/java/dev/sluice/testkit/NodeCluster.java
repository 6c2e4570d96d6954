// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A standalone Master and a Worker on this machine. With Sluice a node daemon runs next to the
 * Worker; with the stock shuffle the Worker has Spark's external shuffle service. Used by one
 * command thread, which closes it: that ends all processes, including executors. {@code
 * StruckServers} may kill or stop its processes on another thread meanwhile.
 */
public final class NodeCluster implements AutoCloseable {
  private static final String HOST = "127.0.0.1";
  private static final long MASTER_MS = 60_000;

  private final Path directory;
  private final Shuffle shuffle;
  private final int masterPort = NodeProcess.freePort();
  private final int servicePort = NodeProcess.freePort();
  private final List<Process> processes = new ArrayList<>();

  /** The node daemon; null with the stock shuffle. */
  private @Nullable NodeProcess daemon;

  private NodeCluster(Path directory, Shuffle shuffle) throws IOException {
    this.directory = directory;
    this.shuffle = shuffle;
  }

  /**
   * Starts a cluster.
   *
   * @param directory directory of this cluster
   * @param cores number of cores that its Worker offers
   */
  public static NodeCluster start(Path directory, Shuffle shuffle, int cores)
      throws IOException, InterruptedException {
    NodeCluster cluster = new NodeCluster(directory, shuffle);
    try {
      cluster.start(cores);
      return cluster;
    } catch (IOException | InterruptedException | RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private void start(int cores) throws IOException, InterruptedException {
    Path work = Files.createDirectories(directory.resolve("work"));
    start(
        "master.Master",
        List.of("-Dspark.deploy.maxExecutorRetries=-1"),
        "--host %s --port %d --webui-port 0".formatted(HOST, masterPort));
    if (!Poll.until(MASTER_MS, this::listens)) {
      throw new IOException(
          "Spark's Master does not listen at " + masterUrl() + "; see its log in " + directory);
    }
    List<String> service = List.of();
    if (shuffle == Shuffle.SLUICE) {
      daemon = NodeProcess.configure(work, local(), HOST, "auto");
      daemon.start();
    } else {
      service =
          List.of(
              "-Dspark.shuffle.service.enabled=true",
              "-Dspark.shuffle.service.port=" + servicePort);
    }
    start(
        "worker.Worker",
        service,
        "--host %s --webui-port 0 --cores %d --memory 64g --work-dir %s %s"
            .formatted(HOST, cores, work, masterUrl()));
  }

  private Path local() {
    return directory.resolve("local");
  }

  private String masterUrl() {
    return "spark://%s:%d".formatted(HOST, masterPort);
  }

  /** Returns true if the Master listens; an earlier Worker would retry after many seconds. */
  private boolean listens() {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), masterPort));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private void start(String main, List<String> options, String arguments) throws IOException {
    ProcessBuilder builder =
        new SparkJvm(directory.resolve("spark"), List.of(), options)
            .running("org.apache.spark.deploy." + main, List.of(arguments.split(" ")));
    builder.environment().put("SPARK_LOCAL_DIRS", local().toString());
    Process process =
        builder
            .redirectErrorStream(true)
            .redirectOutput(Redirect.to(directory.resolve(main + ".log").toFile()))
            .start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "spark-destroyer"));
    processes.add(process);
  }

  /**
   * Returns the settings of an application on this cluster.
   *
   * @param cores cores of each executor
   */
  public Map<String, String> conf(int executors, int cores) throws IOException {
    Map<String, String> conf = new HashMap<>();
    conf.put("spark.master", masterUrl());
    conf.put("spark.cores.max", Integer.toString(executors * cores));
    conf.put("spark.executor.cores", Integer.toString(cores));
    conf.put("spark.executor.instances", Integer.toString(executors));
    conf.put(Executors.SERVER, Long.toString(serverPid()));
    conf.put(Executors.WORKER, Long.toString(worker().pid()));
    if (shuffle == Shuffle.SLUICE) {
      conf.put("spark.shuffle.rdma.node", "on");
      conf.put("spark.shuffle.rdma.node.socket", daemon().socket().toString());
    } else {
      conf.put("spark.shuffle.service.enabled", "true");
      conf.put("spark.shuffle.service.port", Integer.toString(servicePort));
    }
    return conf;
  }

  private Process worker() {
    return processes.getLast();
  }

  /** Returns the node daemon, which the stock shuffle does not have. */
  public NodeProcess daemon() {
    return requireNonNull(daemon);
  }

  /** Returns the process id of the server of map outputs, daemon or Worker. */
  public long serverPid() throws IOException {
    return shuffle == Shuffle.SLUICE ? daemon().pid() : worker().pid();
  }

  /** Kills all executors at once, as kill -9 does; the Master has new ones started. */
  public void killExecutors() {
    worker().descendants().forEach(ProcessHandle::destroyForcibly);
  }

  @Override
  public void close() throws IOException {
    if (daemon != null) {
      daemon.kill();
    }
    for (Process process : processes.reversed()) {
      List<ProcessHandle> executors = process.descendants().toList();
      process.destroyForcibly();
      executors.forEach(ProcessHandle::destroyForcibly);
    }
  }
}
