// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.verbs.NetDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Reads facts about ports and processors that the kernel gives in files and not by verbs. A missing
 * file means that the fact is unknown, which is no error: containers hide files, and drivers leave
 * them out. {@link VerbsProvider} and {@link VerbsSurvey} create it. Reads anew at each call; any
 * thread.
 *
 * @param root {@code /}, or a directory that stands for it
 */
record Sysfs(Path root) {
  private static final Pattern NUMBER = Pattern.compile("(?:^|tclass=)(\\d+)");
  private static final Pattern NODE = Pattern.compile("node(\\d+)");
  private static final Pattern ALLOWED = Pattern.compile("(?m)^Cpus_allowed_list:\\s*(\\S+)$");

  /**
   * Returns true if no RDMA module is loaded: ib_core creates the class even without devices.
   * Returns false if that cannot be told.
   */
  boolean isWithoutRdma() {
    return Files.isDirectory(root.resolve("sys/class")) && !Files.isDirectory(devicesDirectory());
  }

  /** Names of the devices that the kernel has. */
  List<String> devices() {
    return names(devicesDirectory());
  }

  /** The link's rate, such as {@code 100 Gb/sec (4X EDR)}. */
  String rate(String device, int port) {
    return read(port(device, port).resolve("rate"), "rate unknown");
  }

  /** Traffic class that the administrator configured for all packets of a port. */
  OptionalInt trafficClass(String device, int port) {
    OptionalInt ofPort = number(device(device).resolve("tc/" + port + "/traffic_class"));
    if (ofPort.isPresent()) {
      return ofPort;
    }
    Path ofRdmaCm =
        root.resolve("sys/kernel/config/rdma_cm")
            .resolve(device)
            .resolve("ports/" + port + "/default_roce_tos");
    OptionalInt tos = number(ofRdmaCm);
    return tos.orElse(0) == 0 ? OptionalInt.empty() : tos; // 0 is the value before it is set
  }

  /**
   * Network devices of the same adapter and port, as IP over InfiniBand has them. They are of the
   * network namespace in which sysfs was mounted, which may differ from this process's.
   */
  List<NetDevice> netDevices(String device, int port) {
    Path directory = device(device).resolve("device/net");
    return names(directory).stream()
        .filter(name -> number(directory, name, "dev_port").orElse(port - 1) == port - 1)
        .map(
            name ->
                new NetDevice(
                    name,
                    number(directory, name, "ifindex").orElse(0),
                    read(directory.resolve(name).resolve("address"), "")))
        .toList();
  }

  private static OptionalInt number(Path directory, String name, String file) {
    return number(directory.resolve(name).resolve(file));
  }

  /** Format of the packets that carry this entry of the port's GID table. */
  GidEntry.Type gidType(String device, int port, int index) {
    Path ofPort = port(device, port);
    return switch (read(ofPort.resolve("gid_attrs/types/" + index), "")) {
      case "RoCE v2" -> GidEntry.Type.ROCE_V2;
      case "IB/RoCE v1" ->
          read(ofPort.resolve("link_layer"), "").equals("Ethernet")
              ? GidEntry.Type.ROCE_V1
              : GidEntry.Type.IB;
      default -> GidEntry.Type.UNREADABLE;
    };
  }

  /** The network device of an entry of the port's GID table; empty if there is none. */
  String gidNetDevice(String device, int port, int index) {
    return read(port(device, port).resolve("gid_attrs/ndevs/" + index), "");
  }

  /** The NUMA node of a device's slot; empty if the firmware does not tell (-1). */
  OptionalInt numaNode(String device) {
    return number(device(device).resolve("device/numa_node"));
  }

  /** NUMA nodes of this machine, including nodes without processors. */
  List<Integer> numaNodes() {
    return names(nodesDirectory()).stream()
        .map(NODE::matcher)
        .filter(Matcher::matches)
        .map(matcher -> Integer.parseInt(matcher.group(1)))
        .toList();
  }

  /** A NUMA node's online processors, as a list such as {@code 0-3,8}. */
  String processors(int numaNode) {
    return read(nodesDirectory().resolve("node" + numaNode + "/cpulist"), "");
  }

  /**
   * Processors that this process may run on (proc_pid_status(5)), as a list such as {@code 0-3,8}.
   */
  String allowedProcessors() {
    Matcher matcher = ALLOWED.matcher(read(root.resolve("proc/self/status"), ""));
    return matcher.find() ? matcher.group(1) : "";
  }

  private Path nodesDirectory() {
    return root.resolve("sys/devices/system/node");
  }

  private static List<String> names(Path directory) {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  private Path device(String device) {
    return devicesDirectory().resolve(device);
  }

  private Path devicesDirectory() {
    return root.resolve("sys/class/infiniband");
  }

  private Path port(String device, int port) {
    return device(device).resolve("ports/" + port);
  }

  /** Reads a file that consists of a number, or of {@code Global tclass=106}. */
  private static OptionalInt number(Path file) {
    Matcher matcher = NUMBER.matcher(read(file, ""));
    return matcher.find()
        ? OptionalInt.of(Integer.parseInt(matcher.group(1)))
        : OptionalInt.empty();
  }

  private static String read(Path file, String otherwise) {
    try {
      return Files.exists(file) ? Files.readString(file).strip() : otherwise;
    } catch (IOException e) {
      return otherwise;
    }
  }
}
