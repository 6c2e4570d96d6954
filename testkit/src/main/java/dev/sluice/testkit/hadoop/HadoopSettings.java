// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit.hadoop;

import dev.sluice.testkit.NodeProcess;
import dev.sluice.testkit.Shuffle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Settings of a cluster's processes and of its jobs, with the folders and ports that they name.
 * {@link HadoopCluster} makes it. Immutable.
 */
final class HadoopSettings {
  private static final String RESOURCE_MANAGER = "127.0.0.1";

  /** Port of the daemons, each at the address of its NodeManager. */
  private static final String DAEMON_PORT = "13563";

  /** Options of JVMs that live for seconds, two of them on a core. */
  private static final String SHORT_LIVED = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1";

  private final Path directory;
  private final Map<String, String> common = new LinkedHashMap<>();

  /** Port of the ResourceManager's pages. */
  private final int port = NodeProcess.freePort();

  HadoopSettings(Path directory) throws IOException {
    this(directory, Map.of());
  }

  /**
   * @param security settings that all processes of a secure cluster share
   */
  HadoopSettings(Path directory, Map<String, String> security) throws IOException {
    this.directory = directory;
    common.putAll(security);
    common.put("fs.defaultFS", "file:///");
    common.put("hadoop.tmp.dir", directory + "/tmp");
    common.put("yarn.resourcemanager.hostname", RESOURCE_MANAGER);
    for (String address : List.of("", "scheduler.", "resource-tracker.", "admin.")) {
      common.put(
          "yarn.resourcemanager." + address + "address",
          RESOURCE_MANAGER + ":" + NodeProcess.freePort());
    }
    common.put("yarn.resourcemanager.webapp.address", RESOURCE_MANAGER + ":" + port);
  }

  /** Returns the URL of the ResourceManager's counts of nodes. */
  String metrics() {
    return "http://%s:%d/jmx?qry=Hadoop:service=ResourceManager,name=ClusterMetrics"
        .formatted(RESOURCE_MANAGER, port);
  }

  /** Returns the folder of a NodeManager's files. */
  Path node(int node) {
    return directory.resolve("node-" + node);
  }

  /** Returns the installation of Sluice, which all nodes share. */
  Path home() {
    return directory.resolve("sluice");
  }

  /** Returns a NodeManager's local directories. */
  List<Path> localDirectories(int node) {
    return List.of(node(node).resolve("local-1"), node(node).resolve("local-2"));
  }

  private Path daemonConf() {
    return directory.resolve("sluice-node.conf");
  }

  /**
   * Writes the settings of all daemons.
   *
   * @param otherUsers true if containers have another user than the daemons
   */
  void writeDaemonConf(String provider, boolean otherUsers) throws IOException {
    Files.write(
        daemonConf(),
        List.of(
            "sluice.node.provider=" + provider,
            "sluice.node.minFreeBytes=1m",
            "sluice.node.expireAfter=10s",
            "sluice.node.otherUsers=" + otherUsers,
            "sluice.node.http="));
  }

  /** Returns the folder of the configuration of all containers. */
  Path containers() {
    return directory.resolve("conf");
  }

  /** Returns the folder in which a job that has ended leaves its history. */
  Path histories() {
    return staging().resolve("history/done_intermediate");
  }

  /** Returns the folder in which jobs have folders for their users. */
  Path staging() {
    return directory.resolve("staging");
  }

  /** Returns the settings that the ResourceManager, NodeManagers and jobs share. */
  Map<String, String> common() {
    return new LinkedHashMap<>(common);
  }

  Map<String, String> resourceManager() {
    Map<String, String> settings = common();
    settings.put("yarn.scheduler.minimum-allocation-mb", "128");
    settings.put("yarn.scheduler.capacity.root.queues", "default");
    settings.put("yarn.scheduler.capacity.root.default.capacity", "100");
    settings.put("yarn.scheduler.capacity.maximum-am-resource-percent", "1");
    // Otherwise a task waits for heartbeats of a second, and the end of a node takes 10 minutes.
    settings.put("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", "200");
    settings.put("yarn.nm.liveness-monitor.expiry-interval-ms", "10000");
    return settings;
  }

  /**
   * @param memoryMb memory for containers, in MiB
   */
  Map<String, String> nodeManager(int node, int memoryMb) {
    Path folder = node(node);
    Map<String, String> settings = common();
    settings.put("yarn.nodemanager.hostname", host(node));
    settings.put("yarn.nodemanager.bind-host", host(node)); // Else it takes the machine's name.
    for (String address : List.of("", "localizer.", "webapp.")) {
      settings.put("yarn.nodemanager." + address + "address", host(node) + ":0");
    }
    settings.put(
        "yarn.nodemanager.local-dirs",
        localDirectories(node).stream().map(Path::toString).collect(Collectors.joining(",")));
    settings.put("yarn.nodemanager.log-dirs", folder + "/logs");
    settings.put("yarn.nodemanager.resource.memory-mb", Integer.toString(memoryMb));
    settings.put("yarn.nodemanager.vmem-check-enabled", "false");
    settings.put(
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", "100");
    String services = "yarn.nodemanager.aux-services";
    settings.put(services, "mapreduce_shuffle,sluice_node");
    settings.put(services + ".mapreduce_shuffle.class", "dev.sluice.yarn.JobShuffleHandler");
    settings.put(services + ".sluice_node.class", "dev.sluice.yarn.SluiceNodeService");
    settings.put("mapreduce.shuffle.port", "0");
    settings.put("sluice.mapreduce.port", DAEMON_PORT);
    settings.put("sluice.yarn.home", home().toString());
    settings.put("sluice.yarn.java.home", HadoopFiles.ownJava().toString());
    settings.put("sluice.yarn.conf", daemonConf().toString());
    settings.put("sluice.yarn.socket", folder.resolve("node.sock").toString());
    return settings;
  }

  /** Returns an address that no other cluster on this machine has. */
  String host(int node) {
    return "127.%d.%d.%d".formatted(port >> Byte.SIZE, port & 0xff, node);
  }

  /**
   * Returns the settings of a job, as its submitter needs them.
   *
   * @param classPath jars of the job's processes
   */
  Map<String, String> job(Shuffle shuffle, String classPath) {
    Map<String, String> job = common();
    job.put("mapreduce.framework.name", "yarn");
    job.put("yarn.app.mapreduce.am.staging-dir", staging().toString());
    // There is no history server: the ApplicationMaster itself tells its end and its counters.
    job.put("mapreduce.jobhistory.address", "");
    job.put("yarn.application.classpath", containers().toString());
    job.put("mapreduce.application.classpath", classPath);
    job.put("mapreduce.jvm.add-opens-as-default", "true");
    job.put("yarn.app.mapreduce.am.resource.mb", "512");
    job.put("yarn.app.mapreduce.am.command-opts", "-Xmx384m " + SHORT_LIVED);
    job.put("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", "200");
    job.put("mapreduce.client.completion.pollinterval", "200");
    job.put("mapreduce.client.progressmonitor.pollinterval", "200");
    job.put("mapreduce.map.memory.mb", "512");
    job.put("mapreduce.map.java.opts", "-Xmx384m " + SHORT_LIVED);
    job.put("mapreduce.map.speculative", "false");
    job.put("mapreduce.reduce.memory.mb", "512");
    job.put("mapreduce.reduce.java.opts", "-Xmx256m " + SHORT_LIVED);
    job.put("mapreduce.reduce.speculative", "false");
    job.put("mapreduce.reduce.env.JAVA_HOME", HadoopFiles.ownJava().toString());
    if (shuffle == Shuffle.SLUICE) {
      job.put("sluice.mapreduce.home", home().toString());
      job.put("sluice.mapreduce.port", DAEMON_PORT);
      job.put(
          "mapreduce.job.reduce.shuffle.consumer.plugin.class", "dev.sluice.mapreduce.RdmaShuffle");
    }
    return job;
  }
}
