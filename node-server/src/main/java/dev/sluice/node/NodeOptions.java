// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.conf.Suggestion;
import dev.sluice.blocks.conf.Type;
import dev.sluice.blocks.conf.VerbsSetting;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import java.io.IOException;
import java.io.Reader;
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
import java.util.OptionalLong;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The configuration of a node daemon, validated. {@link NodeArguments} makes it at the start; all
 * parts of the daemon read it, on any thread. Immutable. A getter parses its value anew.
 *
 * @see NodeSettings
 */
public final class NodeOptions {
  private static final Pattern RANGE = Pattern.compile("(\\d{1,5})(?:-(\\d{1,5}))?");
  private static final Pattern ADDRESS = Pattern.compile("(.+):(\\d{1,5})");
  private static final int MAX_PORT = 65_535;

  private static final Type<Ports> PORTS =
      new Type<>("a range such as 7340-7399, or 0", NodeOptions::range);
  private static final Type<InetSocketAddress> HTTP =
      new Type<>("an address and a port such as 127.0.0.1:7338, or empty", NodeOptions::address);
  private static final Type<Long> SIZE = Type.bytes("0", "8000t");
  private static final Type<Path> PATH = new Type<>("a path", NodeOptions::path);

  /**
   * Range of ports.
   *
   * @param first 0 for any free port; then the last one is 0, too
   */
  record Ports(int first, int last) {
    /**
     * Ports that an application tries, in order. Ports that became free come last: processes of
     * their earlier application may not have heard of its end.
     *
     * @param own port that the application had before; 0 for none
     * @param latest port that this run of the daemon gave to an application last; 0 for none
     * @param others ports that other applications use, or may reclaim
     */
    int[] inTurn(int own, int latest, Set<Integer> others) {
      IntStream next = IntStream.rangeClosed(Math.max(first, latest + 1), last);
      IntStream free =
          IntStream.concat(next, IntStream.rangeClosed(first, last))
              .filter(port -> !others.contains(port));
      return IntStream.concat(IntStream.of(own), free)
          .filter(port -> port > 0 || last == 0)
          .distinct()
          .toArray();
    }
  }

  private final Map<String, String> values;

  private NodeOptions(Map<String, String> values) {
    this.values = Map.copyOf(values);
  }

  /**
   * @throws IllegalArgumentException for an unknown key or a value that is not allowed
   */
  public static NodeOptions of(Map<String, String> values) {
    List<String> known = NodeSettings.keys();
    for (String key : values.keySet()) {
      if (!known.contains(key)) {
        throw new IllegalArgumentException(
            key
                + " is not a setting of the node daemon"
                + Suggestion.of(key, NodeSettings.PREFIX, known));
      }
    }
    NodeOptions options = new NodeOptions(values);
    options.validate();
    return options;
  }

  /** Reads a file in the format of java.util.Properties. */
  static Map<String, String> read(Path file) throws IOException {
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(file)) {
      properties.load(reader);
    }
    Map<String, String> values = new HashMap<>();
    properties.stringPropertyNames().forEach(key -> values.put(key, properties.getProperty(key)));
    return values;
  }

  /**
   * Parses all values, so that a wrong one ends the start. A new getter belongs here. Only {@link
   * #host} is left out: it depends on the machine, and {@link NodeCheck} reports it apart.
   */
  private void validate() {
    if (directories().isEmpty()) {
      throw new IllegalArgumentException(NodeSettings.DIRECTORIES.key() + " has to be set");
    }
    socket();
    drainFile();
    ports();
    provider();
    verbsOptions();
    transferOptions();
    maxApplications();
    maxExecutors();
    maxMapOutputs();
    maxBytes();
    drainTimeout();
    registrationBytes();
    stagingBytes();
    minFreeBytes();
    expireAfter();
    deletesDeadExecutors();
    stopTimeout();
    http();
  }

  private String text(NodeSettings setting) {
    return values.getOrDefault(setting.key(), setting.initial()).strip();
  }

  private <T> T value(NodeSettings setting, Type<T> type) {
    return type.parse(setting.key(), text(setting));
  }

  private <T> Optional<T> optional(NodeSettings setting, Type<T> type) {
    return text(setting).isEmpty() ? Optional.empty() : Optional.of(value(setting, type));
  }

  List<Path> directories() {
    return Stream.of(text(NodeSettings.DIRECTORIES).split(","))
        .map(String::strip)
        .filter(name -> !name.isEmpty())
        .map(Path::of)
        .toList();
  }

  Path socket() {
    return value(NodeSettings.SOCKET, PATH);
  }

  private static Path path(String text) {
    if (text.isEmpty()) {
      throw new IllegalArgumentException("empty path");
    }
    return Path.of(text);
  }

  /**
   * Address by which readers reach this node.
   *
   * @throws IllegalArgumentException if it is not set, and the machine's own name has no such
   *     address
   */
  String host() {
    String host = text(NodeSettings.HOST);
    return host.isEmpty() ? reachable() : host;
  }

  private static String reachable() {
    try {
      return reachable(InetAddress.getLocalHost());
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(
          "%s has to be set: the machine's name has no address (%s)"
              .formatted(NodeSettings.HOST.key(), e.getMessage()),
          e);
    }
  }

  static String reachable(InetAddress machine) {
    if (machine.isLoopbackAddress()) {
      throw new IllegalArgumentException(
          "%s has to be set: the machine's name has the address %s, which other nodes cannot reach"
              .formatted(NodeSettings.HOST.key(), machine));
    }
    return machine.getHostAddress();
  }

  Ports ports() {
    return value(NodeSettings.PORTS, PORTS);
  }

  private static Ports range(String text) {
    Matcher range = RANGE.matcher(text);
    if (!range.matches()) {
      throw new IllegalArgumentException("not a range");
    }
    int first = Integer.parseInt(range.group(1));
    int last = range.group(2) == null ? first : Integer.parseInt(range.group(2));
    if (last < first || last > MAX_PORT || first == 0 && last > 0) {
      throw new IllegalArgumentException("not a range of ports");
    }
    return new Ports(first, last);
  }

  /** {@code auto}, {@code verbs} or {@code soft}. */
  String provider() {
    return value(NodeSettings.PROVIDER, Type.oneOf("auto", "verbs", "soft"));
  }

  VerbsOptions verbsOptions() {
    return VerbsSetting.configured(
        VerbsOptions.DEFAULT, NodeSettings.PREFIX, key -> Optional.ofNullable(values.get(key)));
  }

  /** Options for one application. A node READs nothing: all its queue pairs are accepted ones. */
  TransferOptions transferOptions() {
    int queuePairs = value(NodeSettings.CONNECTIONS_MAX, Type.integer(1, 65_536));
    return TransferOptions.DEFAULT.with(
        o -> {
          o.bufferPoolBytes = 4096; // the smallest size allowed
          o.sendQueueDepth = 1;
          o.maxQueuePairs = queuePairs;
        });
  }

  int maxApplications() {
    return value(NodeSettings.MAX_APPLICATIONS, Type.integer(1, Integer.MAX_VALUE));
  }

  int maxExecutors() {
    return value(NodeSettings.MAX_EXECUTORS, Type.integer(1, 65_536));
  }

  int maxMapOutputs() {
    return value(NodeSettings.MAX_MAP_OUTPUTS, Type.integer(1, Integer.MAX_VALUE));
  }

  long maxBytes() {
    return optional(NodeSettings.MAX_BYTES, SIZE).orElse(Long.MAX_VALUE);
  }

  Path drainFile() {
    return value(NodeSettings.DRAIN_FILE, PATH);
  }

  Duration drainTimeout() {
    return time(NodeSettings.DRAIN_TIMEOUT, "0");
  }

  /** Limit for all applications together; empty if it is not set. */
  OptionalLong registrationBytes() {
    return optional(NodeSettings.REGISTRATION_MAX_BYTES, SIZE).stream()
        .mapToLong(Long::longValue)
        .findFirst();
  }

  /** Limit for one application. */
  long stagingBytes() {
    return value(NodeSettings.STAGING_MAX_BYTES, Type.bytes("4m", "16g"));
  }

  long minFreeBytes() {
    return value(NodeSettings.MIN_FREE_BYTES, SIZE);
  }

  Duration expireAfter() {
    return time(NodeSettings.EXPIRE_AFTER, "1s");
  }

  boolean deletesDeadExecutors() {
    return value(NodeSettings.DELETE_DEAD, Type.FLAG);
  }

  Duration stopTimeout() {
    return time(NodeSettings.STOP_TIMEOUT, "0");
  }

  private Duration time(NodeSettings setting, String least) {
    return Duration.ofMillis(value(setting, Type.millis(least, "365d")));
  }

  Optional<InetSocketAddress> http() {
    return optional(NodeSettings.HTTP, HTTP);
  }

  private static InetSocketAddress address(String text) {
    Matcher address = ADDRESS.matcher(text);
    if (!address.matches()) {
      throw new IllegalArgumentException("not an address with a port");
    }
    return new InetSocketAddress(address.group(1), Integer.parseInt(address.group(2)));
  }
}
