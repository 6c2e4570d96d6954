// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.conf.Setting;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import java.io.IOException;
import java.io.Reader;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * The configuration of a node daemon, validated. {@link NodeArguments} makes it at the start; all
 * parts of the daemon read it, on any thread. Immutable. Each call parses its value anew.
 *
 * @see NodeSettings
 */
public final class NodeOptions {
  private static final Pattern RANGE = Pattern.compile("(\\d{1,5})(?:-(\\d{1,5}))?");
  private static final int MAX_PORT = 65_535;

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

    static Ports parse(String text) {
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
  }

  private final Map<String, String> values;

  private NodeOptions(Map<String, String> values) {
    this.values = Map.copyOf(values);
  }

  /**
   * Checks all values, so that a wrong one ends the start. Only {@link #host} is left out: it
   * depends on the machine, and {@link NodeCheck} reports it apart.
   *
   * @throws IllegalArgumentException for an unknown key or a value that is not allowed
   */
  public static NodeOptions of(Map<String, String> values) {
    NodeSettings.TABLE.validate(values);
    NodeOptions options = new NodeOptions(values);
    if (options.get(NodeSettings.DIRECTORIES).isEmpty()) {
      throw new IllegalArgumentException(NodeSettings.DIRECTORIES.key() + " has to be set");
    }
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

  /** Returns the value that is set, else the default. */
  <T> T get(Setting<T> setting) {
    return requireNonNull(setting.get(values::get));
  }

  /**
   * Address by which readers reach this node.
   *
   * @throws IllegalArgumentException if it is not set, and the machine's own name has no such
   *     address
   */
  String host() {
    return get(NodeSettings.HOST).orElseGet(NodeOptions::reachable);
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

  VerbsOptions verbsOptions() {
    return NodeSettings.VERBS.configure(VerbsOptions.DEFAULT, values::get);
  }

  /** Options for one application. A node READs nothing: all its queue pairs are accepted ones. */
  TransferOptions transferOptions() {
    return TransferOptions.DEFAULT.with(
        o -> {
          o.bufferPoolBytes = 4096; // the smallest size allowed
          o.sendQueueDepth = 1;
          o.maxQueuePairs = get(NodeSettings.CONNECTIONS_MAX);
        });
  }
}
