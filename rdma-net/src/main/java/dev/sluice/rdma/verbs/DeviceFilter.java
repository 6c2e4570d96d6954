// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import java.util.List;
import java.util.stream.Stream;

/**
 * Selects the ports that may be used, in NCCL's syntax. {@code mlx5_0:1,mlx5_1} selects port 1 of
 * the devices whose names begin with {@code mlx5_0}, and all ports of those that begin with {@code
 * mlx5_1}. A leading {@code =} matches whole names; a leading {@code ^} (or {@code ^=}) selects all
 * other ports. The configuration parses it; {@link VerbsProvider}, {@link OpenPorts} and {@link
 * PortReader} ask it. Immutable.
 */
public final class DeviceFilter {
  /** Selects every port. */
  public static final DeviceFilter ANY = new DeviceFilter("", false, false, List.of());

  private static final int ANY_PORT = 0;

  private record Entry(String device, int port) {
    static Entry parse(String text) {
      int colon = text.indexOf(':');
      String device = (colon < 0 ? text : text.substring(0, colon)).strip();
      int port = colon < 0 ? ANY_PORT : Integer.parseInt(text.substring(colon + 1).strip());
      if (device.isEmpty() || colon >= 0 && (port < 1 || port > 255)) {
        throw new IllegalArgumentException("\"" + text + "\" is not DEVICE or DEVICE:PORT");
      }
      return new Entry(device, port);
    }

    boolean matches(String name, int number, boolean exact) {
      boolean named = exact ? name.equals(device) : name.startsWith(device);
      return named && (port == ANY_PORT || port == number);
    }
  }

  private final String text;
  private final boolean excluding;
  private final boolean exact;
  private final List<Entry> entries;

  private DeviceFilter(String text, boolean excluding, boolean exact, List<Entry> entries) {
    this.text = text;
    this.excluding = excluding;
    this.exact = exact;
    this.entries = entries;
  }

  /**
   * @throws IllegalArgumentException if the text is not in this syntax
   */
  public static DeviceFilter parse(String text) {
    boolean excluding = text.startsWith("^");
    String rest = excluding ? text.substring(1) : text;
    boolean exact = rest.startsWith("=");
    List<Entry> entries =
        Stream.of((exact ? rest.substring(1) : rest).split(",", -1)).map(Entry::parse).toList();
    return new DeviceFilter(text, excluding, exact, entries);
  }

  /** Returns true if the port may be used. */
  public boolean matches(String device, int port) {
    return entries.isEmpty()
        || entries.stream().anyMatch(entry -> entry.matches(device, port, exact)) != excluding;
  }

  /** Returns false only if the filter certainly excludes every port of the device. */
  boolean matchesSome(String device) {
    // An exclusion of one port leaves the device.
    return entries.isEmpty()
        || entries.stream()
                .anyMatch(entry -> entry.matches(device, excluding ? ANY_PORT : entry.port, exact))
            != excluding;
  }

  /** Reason why a device or a port is not used; continues a sentence that begins with its name. */
  String refusal() {
    return "is not among the devices \"" + text + "\"";
  }

  /** The text that was parsed. */
  @Override
  public String toString() {
    return text;
  }
}
