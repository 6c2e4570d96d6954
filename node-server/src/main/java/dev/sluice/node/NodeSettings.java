// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.conf.Setting;
import dev.sluice.blocks.conf.SettingTable;
import dev.sluice.blocks.conf.SettingTable.Draft;
import dev.sluice.blocks.conf.Type;
import dev.sluice.blocks.conf.VerbsSettings;
import dev.sluice.node.NodeOptions.Ports;
import dev.sluice.rdma.soft.FaultPlan;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Settings of a node daemon, in a file of {@code key=value} lines. {@link NodeOptions} has their
 * values; other parts name the keys in messages. The keys are in users' files. The order of the
 * fields is the one of the help. Any thread.
 */
final class NodeSettings {
  static final SettingTable TABLE =
      new SettingTable("sluice.node.", "%1$s is not a setting of the node daemon%3$s");

  private static final Pattern ADDRESS = Pattern.compile("(.+):(\\d{1,5})");
  private static final Type<Long> SIZE = Type.bytes("0", "8000t");

  static final Setting<List<Path>> DIRECTORIES =
      with("directories", new Type<>("directories, separated by commas", NodeSettings::paths), "")
          .doc(
              "Directories on the file systems of the executors' local directories, separated by"
                  + " commas. Map outputs are kept in .sluice in each. Never name a directory below"
                  + " one that an executor or a Worker deletes. Has to be set.");

  static final Setting<Path> SOCKET =
      with("socket", Type.PATH, "/run/sluice/node.sock")
          .doc(
              "Unix domain socket at which executors hand over map outputs. Executors have to run"
                  + " as the daemon's user, unless otherUsers is true.");

  static final Setting<Boolean> OTHER_USERS =
      with("otherUsers", Type.FLAG, "false")
          .doc(
              "Whether executors of any user may hand over. They need spark.authenticate, the"
                  + " daemon's user in spark.shuffle.rdma.node.user, and map outputs that the"
                  + " daemon may read, as with YARN's LinuxContainerExecutor.");

  static final Setting<Optional<String>> HOST =
      with("host", new Type<>("a name or an address", Function.<String>identity()).optional(), "")
          .doc(
              "Name or address at which readers reach this node. Empty: the address of the"
                  + " machine's name; if that is a loopback address, the daemon does not start.");

  static final Setting<Ports> PORTS =
      with("ports", new Type<>("a range such as 7340-7399, or 0", Ports::parse), "7340-7399")
          .doc(
              "Ports to which readers connect, one for each application of Spark: a range, or 0 for"
                  + " any free ports. An application keeps its port when the daemon restarts.");

  static final Setting<Optional<Integer>> MAPREDUCE_PORT =
      with("mapreduce.port", Type.integer(1, 65_535).optional(), "")
          .doc(
              "Port for the reduce tasks of all MapReduce jobs, the same on all nodes. YARN's service"
                  + " sets it from sluice.mapreduce.port. Empty: no job is served.");

  static final Setting<String> PROVIDER =
      with("provider", Type.oneOf("auto", "verbs", "soft"), "auto")
          .doc(
              "Provider of READs: auto, verbs or soft. It is tried at the start. Without a device,"
                  + " the daemon does not start with verbs, and takes soft with auto. Executors"
                  + " need the same provider.");

  static final Setting<Integer> CONNECTIONS_MAX =
      with("connections.max", Type.integer(1, 65_536), "1024")
          .doc(
              "Maximum number of queue pairs of each application. Each executor that READs here"
                  + " needs one.");

  static final Setting<Integer> MAX_APPLICATIONS =
      with("maxApplications", Type.integer(1, Integer.MAX_VALUE), "16")
          .doc(
              "Maximum number of applications at a time; others are refused. Each gets an equal"
                  + " part of the registered memory and of the memory regions.");

  static final Setting<Integer> MAX_EXECUTORS =
      with("maxExecutors", Type.integer(1, 65_536), "256")
          .doc(
              "Maximum number of connected executors of each application; others are refused. Each"
                  + " takes a thread.");

  static final Setting<Integer> MAX_MAP_OUTPUTS =
      with("maxMapOutputs", Type.integer(1, Integer.MAX_VALUE), "1000000")
          .doc(
              "Maximum number of map outputs of all applications together; others are refused. Each"
                  + " takes some hundred bytes of heap and three or four files.");

  static final Setting<Optional<Long>> MAX_BYTES =
      with("maxBytes", SIZE.optional(), "")
          .doc(
              "Maximum size of the map outputs of all applications together; others are refused."
                  + " Empty: only the disks limit it.");

  static final Setting<Optional<Long>> REGISTRATION_MAX_BYTES =
      with("registration.maxBytes", SIZE.optional(), "")
          .doc(
              "Maximum registered memory of all applications together. Map outputs beyond an"
                  + " application's part are staged. Empty: a quarter of the memory that is free"
                  + " when the daemon starts, at most 4g. Never more than the process may lock"
                  + " (RLIMIT_MEMLOCK). Open files, which the soft provider registers, take none.");

  static final Setting<Long> STAGING_MAX_BYTES =
      with("staging.maxBytes", Type.bytes("4m", "16g"), "64m")
          .doc(
              "Staging memory of each application, for map outputs that are not registered. At"
                  + " least 4m.");

  static final Setting<Long> MIN_FREE_BYTES =
      with("minFreeBytes", SIZE, "1g")
          .doc("Map outputs on a file system with less free space are refused.");

  static final Setting<Duration> EXPIRE_AFTER =
      with("expireAfter", Type.duration("1s", "365d"), "10min")
          .doc(
              "An application whose processes send nothing for this time is removed with its files."
                  + " A driver sends a message every ten seconds. At least 1s.");

  static final Setting<Boolean> DELETE_DEAD =
      with("deleteDeadExecutors", Type.FLAG, "false")
          .doc(
              "Whether to delete blockmgr-* folders in sluice.node.directories after their"
                  + " executors have ended. For Kubernetes' host paths, where no other process"
                  + " deletes them. Only folders of executors with Sluice are deleted: they keep a"
                  + " file there locked while they run.");

  static final Setting<Path> DRAIN_FILE =
      with("drainFile", Type.PATH, "/run/sluice/drain")
          .doc(
              "While this file exists, the daemon is draining: it refuses new applications, and"
                  + " goes on serving the others.");

  static final Setting<Duration> DRAIN_TIMEOUT =
      with("drainTimeout", Type.duration("0", "365d"), "0s")
          .doc(
              "Time for which the daemon drains after SIGTERM, unless its last application ends"
                  + " earlier. Use 0 where another daemon starts at once: executors wait for it.");

  static final Setting<Duration> STOP_TIMEOUT =
      with("stopTimeout", Type.duration("0", "365d"), "10s")
          .doc(
              "Time after SIGTERM and draining within which the process ends, even if a part of it"
                  + " hangs.");

  static final Setting<Optional<InetSocketAddress>> HTTP =
      with(
              "http",
              new Type<>(
                      "an address and a port such as 127.0.0.1:7338, or empty",
                      NodeSettings::address)
                  .optional(),
              "127.0.0.1:7338")
          .doc(
              "Address and port of /metrics, /api/v1, /healthz, /readyz and a page for people."
                  + " Empty: none."
                  + " While the address cannot be bound, the daemon runs without these pages.");

  /** Settings of daemons alone: all but those of RDMA devices, which follow. */
  static final List<Setting<?>> OWN = TABLE.rows();

  static final VerbsSettings VERBS = new VerbsSettings(TABLE);

  /** For tests alone, so the help does not have it. */
  static final Setting<FaultPlan> SOFT_FAULTS =
      with("soft.faults", new Type<>("a plan such as delay=0.1:200", FaultPlan::parse), "")
          .doc("For tests: faults that the software provider injects.");

  private NodeSettings() {}

  /** Returns a help text with an entry for each setting. */
  static String help() {
    return SettingTable.write(OWN, "%1$s=%2$s%n    %5$s%n")
        + "Settings of the verbs provider, as spark.shuffle.rdma.* for executors:%n".formatted()
        + SettingTable.write(VERBS.settings(), "%1$s%n    %4$s%n");
  }

  private static <T> Draft<T> with(String name, Type<T> type, String defaultValue) {
    return TABLE.with(name, type, defaultValue);
  }

  private static List<Path> paths(String text) {
    return Stream.of(text.split(","))
        .map(String::strip)
        .filter(name -> !name.isEmpty())
        .map(Path::of)
        .toList();
  }

  private static InetSocketAddress address(String text) {
    Matcher address = ADDRESS.matcher(text);
    if (!address.matches()) {
      throw new IllegalArgumentException("not an address with a port");
    }
    return new InetSocketAddress(address.group(1), Integer.parseInt(address.group(2)));
  }
}
