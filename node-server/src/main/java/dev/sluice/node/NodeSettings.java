// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.conf.VerbsSetting;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Settings of a node daemon, in a file of {@code key=value} lines. {@link NodeOptions} parses each
 * value; other parts name the keys in messages. The keys are in users' files.
 */
enum NodeSettings {
  DIRECTORIES(
      "directories",
      "",
      "Directories on the file systems of the executors' local directories, separated by commas."
          + " Map outputs are kept in .sluice in each. Never name a directory below one that an"
          + " executor or a Worker deletes. Has to be set."),
  SOCKET(
      "socket",
      "/run/sluice/node.sock",
      "Unix domain socket at which executors hand over map outputs. Executors have to run as the"
          + " daemon's user."),
  HOST(
      "host",
      "",
      "Name or address at which readers reach this node. Empty: the address of the machine's name;"
          + " if that is a loopback address, the daemon does not start."),
  PORTS(
      "ports",
      "7340-7399",
      "Ports to which readers connect, one for each application: a range, or 0 for any free ports."
          + " An application keeps its port when the daemon restarts."),
  PROVIDER(
      "provider",
      "auto",
      "Provider of READs: auto, verbs or soft. It is tried at the start. Without a device, the"
          + " daemon does not start with verbs, and takes soft with auto. Executors need the same"
          + " provider."),
  CONNECTIONS_MAX(
      "connections.max",
      "1024",
      "Maximum number of queue pairs of each application. Each executor that READs here needs"
          + " one."),
  MAX_APPLICATIONS(
      "maxApplications",
      "16",
      "Maximum number of applications at a time; others are refused. Each gets an equal part of"
          + " the registered memory and of the memory regions."),
  MAX_EXECUTORS(
      "maxExecutors",
      "256",
      "Maximum number of connected executors of each application; others are refused. Each takes"
          + " a thread."),
  MAX_MAP_OUTPUTS(
      "maxMapOutputs",
      "1000000",
      "Maximum number of map outputs of all applications together; others are refused. Each takes"
          + " some hundred bytes of heap and three or four files."),
  MAX_BYTES(
      "maxBytes",
      "",
      "Maximum size of the map outputs of all applications together; others are refused. Empty:"
          + " only the disks limit it."),
  REGISTRATION_MAX_BYTES(
      "registration.maxBytes",
      "",
      "Maximum registered memory of all applications together. Map outputs beyond an"
          + " application's part are staged. Empty: a quarter of the memory that is free when the"
          + " daemon starts, at most 4g. Never more than the process may lock (RLIMIT_MEMLOCK)."
          + " Open files, which the soft provider registers, take none."),
  STAGING_MAX_BYTES(
      "staging.maxBytes",
      "64m",
      "Staging memory of each application, for map outputs that are not registered. At least 4m."),
  MIN_FREE_BYTES(
      "minFreeBytes", "1g", "Map outputs on a file system with less free space are refused."),
  EXPIRE_AFTER(
      "expireAfter",
      "10min",
      "An application whose processes send nothing for this time is removed with its files. A"
          + " driver sends a message every ten seconds. At least 1s."),
  DELETE_DEAD(
      "deleteDeadExecutors",
      "false",
      "Whether to delete blockmgr-* folders in sluice.node.directories after their executors have"
          + " ended. For Kubernetes' host paths, where no other process deletes them. Only folders"
          + " of executors with Sluice are deleted: they keep a file there locked while they run."),
  DRAIN_FILE(
      "drainFile",
      "/run/sluice/drain",
      "While this file exists, the daemon is draining: it refuses new applications, and goes on"
          + " serving the others."),
  DRAIN_TIMEOUT(
      "drainTimeout",
      "0s",
      "Time for which the daemon drains after SIGTERM, unless its last application ends earlier."
          + " Use 0 where another daemon starts at once: executors wait for it."),
  STOP_TIMEOUT(
      "stopTimeout",
      "10s",
      "Time after SIGTERM and draining within which the process ends, even if a part of it hangs."),
  HTTP(
      "http",
      "127.0.0.1:7338",
      "Address and port of /metrics, /healthz, /readyz and a page for people. Empty: none. While"
          + " the address cannot be bound, the daemon runs without these pages.");

  static final String PREFIX = "sluice.node.";

  private final String name;
  private final String initial;
  private final String documentation;

  NodeSettings(String name, String initial, String documentation) {
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
            Arrays.stream(values()).map(NodeSettings::key),
            VerbsSetting.all().stream().map(setting -> PREFIX + setting.name()))
        .toList();
  }

  /** Help text with an entry for each setting. */
  static String help() {
    StringBuilder help = new StringBuilder();
    for (NodeSettings setting : values()) {
      help.append(
          "%s=%s%n    %s%n".formatted(setting.key(), setting.initial, setting.documentation));
    }
    help.append(
        "Settings of the verbs provider, as spark.shuffle.rdma.* for executors:%n".formatted());
    for (VerbsSetting<?> setting : VerbsSetting.all()) {
      help.append("%s%s%n    %s%n".formatted(PREFIX, setting.name(), setting.type().allowed()));
    }
    return help.toString();
  }
}
