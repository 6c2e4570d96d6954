package dev.sluice.blocks.node;

import dev.sluice.blocks.RegionLimit;
import dev.sluice.blocks.RegistryLimits;
import dev.sluice.blocks.Stager;
import java.io.IOException;
import java.io.Reader;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.spark.network.util.JavaUtils;

/**
 * The configuration of a node's block server, validated. Immutable.
 *
 * @see NodeSetting
 */
public final class NodeOptions {
  private static final Pattern PORTS = Pattern.compile("(\\d{1,5})(?:-(\\d{1,5}))?");
  private static final Pattern ADDRESS = Pattern.compile("(.+):(\\d{1,5})");
  private static final int MAX_PORT = 65_535;

  /** As an executor's registry: a shuffle that nobody READ for so long makes room for others. */
  private static final long IDLE_MS = 60_000;

  /**
   * Ports that are tried in their order.
   *
   * @param first 0 for any, and then the last one is 0, too
   */
  record Ports(int first, int last) {}

  private final Map<String, String> values;

  private NodeOptions(Map<String, String> values) {
    this.values = Map.copyOf(values);
  }

  /**
   * @throws IllegalArgumentException for an unknown key and a value that is not allowed
   */
  public static NodeOptions of(Map<String, String> values) {
    for (String key : values.keySet()) {
      if (NodeSetting.of(key).isEmpty()) {
        throw new IllegalArgumentException(key + " is no setting of a node's block server");
      }
    }
    NodeOptions options = new NodeOptions(values);
    options.validate();
    return options;
  }

  /** Reads a file as java.util.Properties does. */
  static NodeOptions read(Path file) throws IOException {
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(file)) {
      properties.load(reader);
    }
    Map<String, String> values = new HashMap<>();
    properties.stringPropertyNames().forEach(key -> values.put(key, properties.getProperty(key)));
    return of(values);
  }

  private void validate() {
    if (directories().isEmpty()) {
      throw wrong(NodeSetting.DIRECTORIES, "has to be set");
    }
    if (maxApplications() < 1) {
      throw wrong(NodeSetting.MAX_APPLICATIONS, "must be at least 1");
    }
    if (stagingBytes() < 4L * Stager.MAX_REQUEST_BYTES) {
      throw wrong(NodeSetting.STAGING_MAX_BYTES, "must be at least 4m");
    }
    ports();
    http();
    minFreeBytes();
    registryLimits(true);
    expireAfter();
    stopTimeout();
  }

  private static IllegalArgumentException wrong(NodeSetting setting, String what) {
    return new IllegalArgumentException(setting.key() + " " + what);
  }

  private String value(NodeSetting setting) {
    return values.getOrDefault(setting.key(), setting.initial()).strip();
  }

  List<Path> directories() {
    return Stream.of(value(NodeSetting.DIRECTORIES).split(","))
        .map(String::strip)
        .filter(name -> !name.isEmpty())
        .map(Path::of)
        .toList();
  }

  Path socket() {
    return Path.of(value(NodeSetting.SOCKET));
  }

  /** How readers reach this node. */
  String host() throws UnknownHostException {
    String host = value(NodeSetting.HOST);
    return host.isEmpty() ? InetAddress.getLocalHost().getHostAddress() : host;
  }

  Ports ports() {
    Matcher range = PORTS.matcher(value(NodeSetting.PORTS));
    if (!range.matches()) {
      throw wrong(NodeSetting.PORTS, "must be a range as 7340-7399, or 0");
    }
    int first = Integer.parseInt(range.group(1));
    int last = range.group(2) == null ? first : Integer.parseInt(range.group(2));
    if (last < first || last > MAX_PORT || first == 0 && last > 0) {
      throw wrong(NodeSetting.PORTS, "must be a range as 7340-7399, or 0");
    }
    return new Ports(first, last);
  }

  String provider() {
    return value(NodeSetting.PROVIDER);
  }

  int maxApplications() {
    try {
      return Integer.parseInt(value(NodeSetting.MAX_APPLICATIONS));
    } catch (NumberFormatException e) {
      throw wrong(NodeSetting.MAX_APPLICATIONS, "must be a number");
    }
  }

  /**
   * Of one application.
   *
   * @param asFiles whether map outputs are registered as open files, or else as mappings
   */
  RegistryLimits registryLimits(boolean asFiles) {
    String configured = value(NodeSetting.REGISTRATION_MAX_BYTES);
    long bytes = configured.isEmpty() ? memoryBytes() / 2 : JavaUtils.byteStringAsBytes(configured);
    int regions = (asFiles ? RegionLimit.FILES : RegionLimit.MAPPINGS).derive(Path.of("/"));
    return new RegistryLimits(bytes / maxApplications(), regions / maxApplications(), IDLE_MS);
  }

  /** The machine's, or the container's. */
  private static long memoryBytes() {
    return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
        .getTotalMemorySize();
  }

  /** Of one application. */
  long stagingBytes() {
    return JavaUtils.byteStringAsBytes(value(NodeSetting.STAGING_MAX_BYTES));
  }

  long minFreeBytes() {
    return JavaUtils.byteStringAsBytes(value(NodeSetting.MIN_FREE_BYTES));
  }

  Duration expireAfter() {
    return time(NodeSetting.EXPIRE_AFTER);
  }

  Duration stopTimeout() {
    return time(NodeSetting.STOP_TIMEOUT);
  }

  private Duration time(NodeSetting setting) {
    return Duration.ofMillis(JavaUtils.timeStringAs(value(setting), TimeUnit.MILLISECONDS));
  }

  Optional<InetSocketAddress> http() {
    String configured = value(NodeSetting.HTTP);
    if (configured.isEmpty()) {
      return Optional.empty();
    }
    Matcher address = ADDRESS.matcher(configured);
    if (!address.matches() || Integer.parseInt(address.group(2)) > MAX_PORT) {
      throw wrong(NodeSetting.HTTP, "must be an address and a port as 127.0.0.1:7338, or empty");
    }
    return Optional.of(new InetSocketAddress(address.group(1), Integer.parseInt(address.group(2))));
  }
}
