// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import static java.util.Objects.requireNonNull;

import dev.sluice.testkit.Executors;
import dev.sluice.testkit.NodeProcess;
import dev.sluice.testkit.Poll;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.SparkJvm;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A standalone Master, and a Worker on each of some nodes. With Sluice a node daemon runs next to
 * each Worker; with the stock shuffle each Worker has Spark's external shuffle service. Used by one
 * command thread, which closes it: that ends all processes, including executors. {@link NodeDriver}
 * may kill or stop its processes on another thread, while the command's thread waits for the job.
 */
public final class NodeCluster implements AutoCloseable {
  private static final long MASTER_MS = 60_000;

  private final Path directory;
  private final Shuffle shuffle;
  private final int cores;
  private final String host;
  private final int masterPort = NodeProcess.freePort();
  private final int servicePort = NodeProcess.freePort();
  private final List<Node> nodes = new ArrayList<>();
  private @Nullable Process master;

  /**
   * @param blocks the node daemon; null with the stock shuffle
   */
  private record Node(Process worker, @Nullable NodeProcess blocks) {
    /** Kills all processes of the node, as if the machine were lost. */
    void lose() throws IOException {
      if (blocks != null) {
        blocks.kill();
      }
      List<ProcessHandle> executors = worker.descendants().toList();
      worker.destroyForcibly();
      executors.forEach(ProcessHandle::destroyForcibly);
    }
  }

  private NodeCluster(Path directory, Shuffle shuffle, int cores, String host) throws IOException {
    this.directory = directory;
    this.shuffle = shuffle;
    this.cores = cores;
    this.host = host;
  }

  /**
   * Starts a cluster of a single node, this machine.
   *
   * @param directory directory of this cluster
   * @param cores number of cores that its Worker offers
   */
  public static NodeCluster here(Path directory, Shuffle shuffle, int cores)
      throws IOException, InterruptedException {
    return start(directory, shuffle, cores, List.of(Place.HERE));
  }

  /** Starts a cluster of several nodes. */
  static NodeCluster start(Path directory, Shuffle shuffle, int cores, List<Place> places)
      throws IOException, InterruptedException {
    NodeCluster cluster = new NodeCluster(directory, shuffle, cores, places.getFirst().host());
    boolean started = false;
    try {
      cluster.startMaster();
      for (Place place : places) {
        cluster.startNode(place);
      }
      started = true;
      return cluster;
    } finally {
      if (!started) {
        cluster.close();
      }
    }
  }

  private String masterUrl() {
    return "spark://%s:%d".formatted(host, masterPort);
  }

  private void startMaster() throws IOException, InterruptedException {
    List<String> options = List.of("-Dspark.deploy.maxExecutorRetries=-1");
    String arguments = "--host %s --port %d --webui-port 0".formatted(host, masterPort);
    master =
        start(Place.HERE, Files.createDirectories(directory), "master.Master", options, arguments);
    if (!Poll.until(MASTER_MS, this::listens)) {
      throw new IOException(
          "Spark's Master does not listen at " + masterUrl() + "; see its log in " + directory);
    }
  }

  /** Returns true if the Master listens; an earlier Worker would retry after many seconds. */
  private boolean listens() {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(host, masterPort));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private void startNode(Place place) throws IOException, InterruptedException {
    Path own = directory.resolve("node-" + nodes.size());
    Path work = Files.createDirectories(own.resolve("work"));
    String arguments =
        "--host %s --webui-port 0 --cores %d --memory 64g --work-dir %s %s"
            .formatted(place.host(), cores, work, masterUrl());
    if (shuffle == Shuffle.STOCK) {
      List<String> options =
          List.of(
              "-Dspark.shuffle.service.enabled=true",
              "-Dspark.shuffle.service.port=" + servicePort);
      nodes.add(new Node(start(place, own, "worker.Worker", options, arguments), null));
      return;
    }
    NodeProcess blocks = NodeProcess.configure(work, own.resolve("local"), place.host(), "auto");
    blocks.start(place.prefix().toArray(String[]::new));
    boolean isWhole = false;
    try {
      nodes.add(new Node(start(place, own, "worker.Worker", List.of(), arguments), blocks));
      isWhole = true;
    } finally {
      if (!isWhole) {
        blocks.kill(); // Nothing else knows the daemon of a node without a Worker.
      }
    }
  }

  private Process start(Place place, Path own, String main, List<String> options, String arguments)
      throws IOException {
    ProcessBuilder builder =
        new SparkJvm(own.resolve("spark"), List.of(), options)
            .running("org.apache.spark.deploy." + main, List.of(arguments.split(" ")));
    builder.command().addAll(0, place.prefix());
    builder.environment().put("SPARK_LOCAL_DIRS", own.resolve("local").toString());
    Process process =
        builder
            .redirectErrorStream(true)
            .redirectOutput(Redirect.to(own.resolve(main + ".log").toFile()))
            .start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "spark-destroyer"));
    return process;
  }

  /**
   * Returns the settings of an application on this cluster.
   *
   * @param cores cores of each executor
   */
  public Map<String, String> conf(int executors, int cores) throws IOException {
    Map<String, String> conf = new HashMap<>();
    conf.put("spark.master", masterUrl());
    conf.put("spark.driver.host", host);
    conf.put("spark.driver.bindAddress", host);
    conf.put("spark.cores.max", Integer.toString(executors * cores));
    conf.put("spark.executor.cores", Integer.toString(cores));
    conf.put("spark.executor.instances", Integer.toString(executors));
    conf.put(Executors.SERVER, Long.toString(serverPid()));
    conf.put(Executors.WORKERS, workerPids());
    if (shuffle == Shuffle.SLUICE) {
      conf.put("spark.shuffle.rdma.node", "on");
      // Relative to an executor's directory, so that each node has its own socket.
      conf.put("spark.shuffle.rdma.node.socket", "../../node.sock");
    } else {
      conf.put("spark.shuffle.service.enabled", "true");
      conf.put("spark.shuffle.service.port", Integer.toString(servicePort));
    }
    return conf;
  }

  /** Returns the first node's daemon, which the stock shuffle does not have. */
  NodeProcess blocks() {
    return requireNonNull(nodes.getFirst().blocks());
  }

  /** Returns the process id of the first node's server of map outputs, daemon or Worker. */
  long serverPid() throws IOException {
    return shuffle == Shuffle.SLUICE ? blocks().pid() : nodes.getFirst().worker().pid();
  }

  private String workerPids() {
    return nodes.stream()
        .map(node -> Long.toString(node.worker().pid()))
        .collect(Collectors.joining(","));
  }

  /** Kills all executors at once, as kill -9 does; the Master has new ones started. */
  void killExecutors() {
    nodes.stream()
        .flatMap(node -> node.worker().descendants())
        .forEach(ProcessHandle::destroyForcibly);
  }

  /** Kills all processes of the last node. */
  void loseLastNode() throws IOException {
    nodes.getLast().lose();
  }

  @Override
  public void close() throws IOException {
    for (Node node : nodes) {
      node.lose();
    }
    if (master != null) {
      master.destroyForcibly();
    }
  }

  /**
   * Place of a node's processes: this machine, or a network namespace on it.
   *
   * @param host address to which they bind
   * @param prefix start of their commands, such as {@code ip netns exec NAME}; empty for none
   */
  record Place(String host, List<String> prefix) {
    static final Place HERE = new Place("127.0.0.1", List.of());
  }
}
