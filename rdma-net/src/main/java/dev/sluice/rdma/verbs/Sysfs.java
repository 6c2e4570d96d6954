package dev.sluice.rdma.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What the kernel says of ports and processors in files and not by verbs. What is not there is not
 * known, which is no error: containers hide files, and drivers leave them out.
 *
 * @param root {@code /}, or a directory that stands for it
 */
record Sysfs(Path root) {
  private static final Pattern NUMBER = Pattern.compile("(?:^|tclass=)(\\d+)");
  private static final Pattern NODE = Pattern.compile("node(\\d+)");
  private static final Pattern ALLOWED = Pattern.compile("(?m)^Cpus_allowed_list:\\s*(\\S+)$");

  /**
   * Whether no module of RDMA is loaded: ib_core makes the class, with devices or without. False
   * where that cannot be told.
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

  /** What the administrator wants all packets of a port to carry. */
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
    return tos.orElse(0) == 0 ? OptionalInt.empty() : tos; // 0 is what it is before it is set
  }

  /** The network devices of the same adapter and port, as IP over InfiniBand has them. */
  Set<String> netDevices(String device, int port) {
    Path directory = device(device).resolve("device/net");
    Set<String> ofPort = new TreeSet<>(names(directory));
    ofPort.removeIf(
        name -> number(directory.resolve(name).resolve("dev_port")).orElse(port - 1) != port - 1);
    return ofPort;
  }

  /** How packets are formed that carry the entry of the port's GID table. */
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

  /** The network device of an entry of the port's GID table; empty where there is none. */
  String gidNetDevice(String device, int port, int index) {
    return read(port(device, port).resolve("gid_attrs/ndevs/" + index), "");
  }

  /** The NUMA node that a device's slot belongs to; empty where firmware does not say (-1). */
  OptionalInt numaNode(String device) {
    return number(device(device).resolve("device/numa_node"));
  }

  /** Of this machine, with processors or without. */
  List<Integer> numaNodes() {
    return names(nodesDirectory()).stream()
        .map(NODE::matcher)
        .filter(Matcher::matches)
        .map(matcher -> Integer.parseInt(matcher.group(1)))
        .toList();
  }

  /** A NUMA node's processors that are online, as a list such as {@code 0-3,8}. */
  String processors(int numaNode) {
    return read(nodesDirectory().resolve("node" + numaNode + "/cpulist"), "");
  }

  /** Those that this process may run on (proc_pid_status(5)), as a list such as {@code 0-3,8}. */
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

  /** Of a file that holds nothing else, or {@code Global tclass=106}. */
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
