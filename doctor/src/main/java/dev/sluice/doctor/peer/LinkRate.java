// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.peer;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.verbs.VerbsProvider;
import dev.sluice.verbs.Gid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Rate of the port that a device uses, as the kernel states it. READs are judged by it. {@link
 * PeerServer} and {@link PeerReader} find it when they open; immutable.
 *
 * @param bytesPerSecond rate; 0 if there is none to judge by
 * @param unknown reason for that; else empty
 */
public record LinkRate(double bytesPerSecond, String unknown) {
  /** Content of a file, such as {@code 100 Gb/sec (4X EDR)}. */
  private static final Pattern RATE = Pattern.compile("([0-9.]+) Gb/sec.*");

  private static final double BYTES_PER_GIGABIT = 1e9 / 8;

  /**
   * @param root {@code /}, or a directory in its place
   */
  static LinkRate of(Path root, Device device) {
    return device.providerName().equals(VerbsProvider.NAME)
        ? of(root, device.name(), device.gid())
        : unknown("provider " + device.providerName() + " has no port");
  }

  static LinkRate of(Path root, String device, Gid gid) {
    Path directory = root.resolve("sys/class/infiniband").resolve(device);
    try {
      if (isSoftware(directory)) {
        return unknown(device + " is a software device, whose port has no real rate");
      }
      return of(device, port(directory, gid));
    } catch (IOException e) {
      return unknown("the kernel does not report the rate of " + device);
    }
  }

  /** Returns true for a software device: no place on a bus, or a network device as its parent. */
  private static boolean isSoftware(Path directory) throws IOException {
    return Files.exists(directory.resolve("parent"))
        || directory.toRealPath().toString().contains("/devices/virtual/");
  }

  /** Returns the port whose table has the GID, or the only one. */
  private static Path port(Path directory, Gid gid) throws IOException {
    List<Path> ports;
    try (Stream<Path> entries = Files.list(directory.resolve("ports"))) {
      ports = entries.sorted().toList();
    }
    for (Path port : ports) {
      if (ports.size() == 1 || has(port, gid)) {
        return port;
      }
    }
    throw new IOException("no port has the GID " + gid);
  }

  private static boolean has(Path port, Gid gid) throws IOException {
    String digits = "%016x%016x".formatted(gid.subnetPrefix(), gid.interfaceId());
    try (Stream<Path> entries = Files.list(port.resolve("gids"))) {
      for (Path entry : entries.toList()) {
        if (Files.readString(entry).strip().replace(":", "").equals(digits)) {
          return true;
        }
      }
    }
    return false;
  }

  private static LinkRate of(String device, Path port) throws IOException {
    Matcher rate = RATE.matcher(Files.readString(port.resolve("rate")).strip());
    return rate.matches()
        ? new LinkRate(Double.parseDouble(rate.group(1)) * BYTES_PER_GIGABIT, "")
        : unknown("the kernel does not report the rate of " + device);
  }

  static LinkRate unknown(String reason) {
    return new LinkRate(0, reason);
  }

  /** Returns the slower one of two rates, by which READs between them are judged. */
  LinkRate slower(LinkRate other) {
    if (!unknown.isEmpty()) {
      return this;
    }
    return !other.unknown.isEmpty() || other.bytesPerSecond < bytesPerSecond ? other : this;
  }

  double gigabitsPerSecond() {
    return bytesPerSecond / BYTES_PER_GIGABIT;
  }
}
