package dev.sluice.blocks.node;

import dev.sluice.blocks.conf.VerbsSetting;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Settings of a node's block server, in a file of {@code key=value} lines. {@link NodeOptions}
 * parses each value.
 */
enum NodeSetting {
  DIRECTORIES(
      "directories",
      "",
      "Directories on the file systems that executors' local directories lie on, with commas;"
          + " map outputs are kept in .sluice below each. Never below a directory that an executor"
          + " or a Worker deletes. Has to be set."),
  SOCKET(
      "socket",
      "/run/sluice/node.sock",
      "Unix domain socket on which executors hand map outputs over. They have to run as the"
          + " daemon's user."),
  HOST(
      "host",
      "",
      "Name or address by which readers reach this node; empty for the machine's, unless that is a"
          + " loopback address, with which it does not start."),
  PORTS(
      "ports",
      "7340-7399",
      "Where readers connect, one port for each application, which it has again after a restart: a"
          + " range, or 0 for any that is free."),
  PROVIDER(
      "provider",
      "auto",
      "How blocks are READ: auto, verbs or soft, which is tried at the start. With verbs and no"
          + " device there is none; auto takes soft then. Executors need the same."),
  CONNECTIONS_MAX(
      "connections.max",
      "1024",
      "Queue pairs of each application at most: one for each executor that READs here."),
  MAX_APPLICATIONS(
      "maxApplications",
      "16",
      "Applications at a time; others are refused. Each gets an equal part of the registered"
          + " memory and of the memory regions."),
  MAX_EXECUTORS(
      "maxExecutors",
      "256",
      "Executors of each application that are connected at a time; others are refused. Each costs a"
          + " thread."),
  MAX_MAP_OUTPUTS(
      "maxMapOutputs",
      "1000000",
      "Map outputs of all applications; others are refused. Each takes some hundred bytes of heap"
          + " and three or four files."),
  MAX_BYTES("maxBytes", "", "Bytes of them; others are refused. Empty for what the disks have."),
  REGISTRATION_MAX_BYTES(
      "registration.maxBytes",
      "",
      "Registered memory of all applications together; what is beyond an application's part is"
          + " staged. Empty for a quarter of the memory that is free when the daemon starts, and 4g"
          + " at most. Never more than the process may lock (RLIMIT_MEMLOCK). Open files, as the"
          + " soft provider registers them, take none."),
  STAGING_MAX_BYTES(
      "staging.maxBytes",
      "64m",
      "Memory of each application that what is not registered is copied into: 4m at least."),
  MIN_FREE_BYTES(
      "minFreeBytes", "1g", "Where a file system has less space left, map outputs are refused."),
  EXPIRE_AFTER(
      "expireAfter",
      "10min",
      "An application whose processes say nothing for so long is removed, with its files: its"
          + " driver says every ten seconds that it lives. 1s at least."),
  DELETE_DEAD(
      "deleteDeadExecutors",
      "false",
      "Whether blockmgr-* folders in the directories themselves are deleted once their executor has"
          + " ended: on Kubernetes' host paths, where nobody else does it. Of executors of Sluice"
          + " alone, which have a file locked there as long as they live."),
  DRAIN_FILE(
      "drainFile",
      "/run/sluice/drain",
      "While there is such a file the node is drained: it refuses applications that are not there,"
          + " and goes on for those that are."),
  DRAIN_TIMEOUT(
      "drainTimeout",
      "0s",
      "After SIGTERM the node is drained for so long, or until its last application is over. 0"
          + " where another daemon is started at once: executors wait for that."),
  STOP_TIMEOUT(
      "stopTimeout",
      "10s",
      "After SIGTERM and draining the process is gone by then, whatever hangs."),
  HTTP(
      "http",
      "127.0.0.1:7338",
      "Address and port of /metrics, /healthz, /readyz and a page for people; empty for none. The"
          + " daemon works without while it cannot be bound.");

  static final String PREFIX = "sluice.node.";

  private final String name;
  private final String initial;
  private final String documentation;

  NodeSetting(String name, String initial, String documentation) {
    this.name = name;
    this.initial = initial;
    this.documentation = documentation;
  }

  String key() {
    return PREFIX + name;
  }

  String initial() {
    return initial;
  }

  /** Keys of these settings and of the device's settings. */
  static List<String> keys() {
    return Stream.concat(
            Arrays.stream(values()).map(NodeSetting::key),
            VerbsSetting.all().stream().map(setting -> PREFIX + setting.name()))
        .toList();
  }

  /** Help text with an entry for each setting. */
  static String help() {
    StringBuilder help = new StringBuilder();
    for (NodeSetting setting : values()) {
      help.append(
          "%s=%s%n    %s%n".formatted(setting.key(), setting.initial, setting.documentation));
    }
    help.append("And for verbs as spark.shuffle.rdma.* has them for executors:%n".formatted());
    for (VerbsSetting<?> setting : VerbsSetting.all()) {
      help.append("%s%s%n    %s%n".formatted(PREFIX, setting.name(), setting.type().allowed()));
    }
    return help.toString();
  }
}
