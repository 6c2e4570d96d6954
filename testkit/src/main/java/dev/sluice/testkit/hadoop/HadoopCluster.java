// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit.hadoop;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.testkit.CpuTicks;
import dev.sluice.testkit.OtherUser;
import dev.sluice.testkit.Poll;
import dev.sluice.testkit.Shuffle;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A ResourceManager and NodeManagers of Hadoop on this machine, as processes on the JDK that Hadoop
 * is used with. Each NodeManager has a loopback address of its own, two local directories, Hadoop's
 * ShuffleHandler and Sluice's node daemon. MapReduce jobs run on it with the settings of {@link
 * #job}. One thread uses it and closes it, which ends all processes, tasks included; a shutdown
 * hook does if this process ends first.
 */
public final class HadoopCluster implements AutoCloseable {
  private static final String DAEMON = "dev.sluice.node.NodeMain";
  private static final String MASTER = "org.apache.hadoop.mapreduce.v2.app.MRAppMaster";

  /** In the command line of every process of a container. */
  private static final String CONTAINER = "/container_";

  private static final long TIMEOUT_MS = 120_000;

  private static final long END_MS = 10_000;

  private final Path directory;
  private final HadoopFiles files;
  private final HadoopSettings settings;

  /** Null if all processes have this process's user. */
  private final @Nullable HadoopUsers users;

  private final List<Process> processes = new ArrayList<>();
  private final Thread closer = new Thread(this::end, "hadoop-destroyer");

  private HadoopCluster(Path directory, Path root, @Nullable HadoopUsers users) throws IOException {
    this.directory = Files.createDirectories(directory).toRealPath();
    this.users = users;
    files = new HadoopFiles(root.toRealPath());
    settings = new HadoopSettings(this.directory, users == null ? Map.of() : users.security());
  }

  /**
   * Starts a cluster; returns when jobs can run on it.
   *
   * @param directory folder of all its files, which does not exist
   * @param root folder of this repository, whose modules are built
   * @param nodes number of NodeManagers
   * @param memoryMb memory that each offers to containers, in MiB
   * @param provider value of sluice.node.provider
   */
  public static HadoopCluster start(
      Path directory, Path root, int nodes, int memoryMb, String provider)
      throws IOException, InterruptedException {
    return start(new HadoopCluster(directory, root, null), nodes, memoryMb, provider);
  }

  /**
   * Starts a cluster of one node whose processes have several users. Its jobs are those of {@link
   * OtherUser#OWNER}, who has to submit them.
   *
   * @param directory as above; all users must be able to reach it
   */
  public static HadoopCluster start(Path directory, Path root, int memoryMb, HadoopUsers users)
      throws IOException, InterruptedException {
    return start(new HadoopCluster(directory, root, users), 1, memoryMb, "soft");
  }

  private static HadoopCluster start(
      HadoopCluster cluster, int nodes, int memoryMb, String provider)
      throws IOException, InterruptedException {
    Runtime.getRuntime().addShutdownHook(cluster.closer);
    try {
      cluster.start(nodes, memoryMb, provider);
      return cluster;
    } catch (IOException | InterruptedException | RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private void start(int nodes, int memoryMb, String provider)
      throws IOException, InterruptedException {
    files.install(settings.home());
    settings.writeDaemonConf(provider, users != null);
    Files.createDirectories(settings.histories()); // ApplicationMasters do not make it.
    HadoopFiles.configure(settings.containers(), settings.common());
    if (users != null) {
      users.install(directory, settings);
    }
    start(
        directory.resolve("resource-manager"),
        "resourcemanager.ResourceManager",
        settings.resourceManager());
    await("the ResourceManager", () -> activeNodes() == 0);
    for (int node = 1; node <= nodes; node++) {
      start(settings.node(node), "nodemanager.NodeManager", settings.nodeManager(node, memoryMb));
    }
    await(nodes + " NodeManagers", () -> activeNodes() == nodes && daemons().size() == nodes);
  }

  private void start(Path folder, String main, Map<String, String> own) throws IOException {
    ProcessBuilder process = files.hadoop(folder, "org.apache.hadoop.yarn.server." + main);
    if (users != null) {
      own.putAll(users.settings(directory));
      users.prepare(process, folder);
    }
    HadoopFiles.configure(folder.resolve("conf"), own);
    processes.add(
        process
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("process.log").toFile())
            .start());
  }

  /**
   * Returns the settings that a submitter needs: those of mapred-site.xml, and the addresses of the
   * ResourceManager.
   *
   * @param shuffle Sluice, or Hadoop's own
   */
  public Map<String, String> job(Shuffle shuffle) throws IOException {
    String jars = files.hadoopJars();
    return settings.job(
        shuffle,
        shuffle == Shuffle.SLUICE ? jars + "," + HadoopFiles.plugin(settings.home()) : jars);
  }

  /** Returns the folder of the configuration of clients and containers. */
  public Path configuration() {
    return settings.containers();
  }

  /** Returns the JDK of all processes but node daemons and, by default, reduce tasks. */
  public static Path java() throws IOException {
    return HadoopFiles.hadoopJava();
  }

  /** Returns the folder in which a job that has ended leaves its history. */
  public Path histories() {
    return settings.histories();
  }

  /** Returns the number of NodeManagers that run; -1 if the ResourceManager does not answer. */
  private int activeNodes() {
    try (InputStream answer = URI.create(settings.metrics()).toURL().openStream()) {
      JsonNode beans = new ObjectMapper().readTree(answer).path("beans");
      return beans.path(0).path("NumActiveNMs").asInt(-1);
    } catch (IOException e) {
      return -1;
    }
  }

  /** Returns when the ResourceManager has lost the NodeManagers that do not run any more. */
  public void awaitNodes(int nodes) throws IOException, InterruptedException {
    await(nodes + " NodeManagers", () -> activeNodes() == nodes);
  }

  /** Returns when no task and no ApplicationMaster runs. */
  public void awaitIdle() throws IOException, InterruptedException {
    await("the end of all containers", () -> processes(CONTAINER).isEmpty());
  }

  private interface Condition {
    boolean holds() throws IOException;
  }

  private void await(String what, Condition condition) throws IOException, InterruptedException {
    Poll.<IOException>until(
        TIMEOUT_MS, () -> condition.holds() || !processes.stream().allMatch(Process::isAlive));
    if (!condition.holds()) {
      throw new IOException(
          "waiting for %s failed; last lines of logs:%n%s".formatted(what, logs()));
    }
  }

  /** Returns the number of the node on which a job's only ApplicationMaster runs. */
  public int nodeOfMaster() throws IOException {
    List<ProcessHandle> masters = processes(MASTER);
    for (int node = 1; Files.exists(settings.node(node)); node++) {
      if (ofNode(node).stream().anyMatch(masters::contains)) {
        return node;
      }
    }
    throw new IOException("no ApplicationMaster runs");
  }

  /** Returns the address of a node, by which jobs know it. */
  public String host(int node) {
    return settings.host(node);
  }

  /** Kills a NodeManager with its daemon and containers at once, as if the machine failed. */
  public void killNode(int node) {
    List<ProcessHandle> own = ofNode(node);
    processes.removeIf(process -> own.contains(process.toHandle()));
    own.forEach(ProcessHandle::destroyForcibly);
  }

  /**
   * Kills a node daemon; its NodeManager starts another one.
   *
   * @throws IllegalStateException if none runs
   */
  public void killDaemon(int node) {
    List<ProcessHandle> own = ofNode(node);
    List<ProcessHandle> killed = daemons().stream().filter(own::contains).toList();
    if (killed.isEmpty()) {
      throw new IllegalStateException("no daemon of node " + node + " runs");
    }
    killed.forEach(ProcessHandle::destroyForcibly);
  }

  private List<ProcessHandle> ofNode(int node) {
    return processes(settings.node(node) + "/");
  }

  private List<ProcessHandle> daemons() {
    return processes(DAEMON);
  }

  /** Returns the processes of this cluster that have a text in their command lines. */
  private List<ProcessHandle> processes(String text) {
    return ProcessHandle.allProcesses()
        .filter(process -> process.pid() != ProcessHandle.current().pid())
        .filter(process -> commandLine(process).contains(directory + "/"))
        .filter(process -> commandLine(process).contains(text))
        .toList();
  }

  /** Returns the command line of a process; empty if the process has ended. */
  private static String commandLine(ProcessHandle process) {
    try {
      return Files.readString(Path.of("/proc/" + process.pid() + "/cmdline"), ISO_8859_1);
    } catch (IOException e) {
      return "";
    }
  }

  /**
   * Returns the CPU time of all processes so far, in seconds, with that of containers and daemons
   * that have ended: the NodeManagers waited for them. Call it when the cluster is idle.
   */
  public double cpuSeconds() {
    return CpuTicks.seconds(processes("").stream());
  }

  /** Returns the last lines of the logs of all processes. */
  public String logs() throws IOException {
    return new HadoopLogs(directory).ends();
  }

  /** Returns the lines with a text in the logs of all processes. */
  public List<String> logLines(String text) throws IOException {
    return new HadoopLogs(directory).lines(text);
  }

  /** Kills all processes. The caller deletes the files. */
  @Override
  public void close() {
    end();
    Runtime.getRuntime().removeShutdownHook(closer);
  }

  /** A process that is killed may just have started another one. */
  private void end() {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(END_MS);
    List<ProcessHandle> all = processes("");
    while (!all.isEmpty() && System.nanoTime() - deadlineNanos < 0) {
      all.forEach(ProcessHandle::destroyForcibly);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
      all = processes("");
    }
  }
}
