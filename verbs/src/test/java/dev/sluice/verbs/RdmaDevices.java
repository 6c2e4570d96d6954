// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The RDMA devices of this machine as sysfs shows them, for tests that need a real device. */
public final class RdmaDevices {
  private static final Path DEVICES = Path.of("/sys/class/infiniband");

  private RdmaDevices() {}

  /** Returns the IPv4 address of a device's port; empty if no RDMA device has one. */
  public static Optional<InetAddress> address() {
    return addresses().stream().findFirst();
  }

  /** Returns the IPv4 addresses of the devices' first ports. */
  public static List<InetAddress> addresses() {
    if (!Files.isDirectory(DEVICES)) {
      return List.of();
    }
    try (Stream<Path> files = Files.find(DEVICES, 1, (path, attributes) -> !path.equals(DEVICES))) {
      return files
          .sorted()
          .map(device -> device.resolve("ports/1/gids"))
          .flatMap(RdmaDevices::gids)
          .filter(Inet4Address.class::isInstance)
          .distinct()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** True if the first device is the kernel's soft-RoCE, which has no hardware below it. */
  public static boolean isSoftRoce() {
    String[] names = DEVICES.toFile().list();
    return names != null && names.length > 0 && Files.exists(DEVICES.resolve(names[0] + "/parent"));
  }

  /**
   * True if the kernel registers read-only mappings of files. Kernels before 6.2 pin pages for
   * writing only.
   */
  public static boolean kernelPinsForReading() {
    String[] version = System.getProperty("os.version").split("[^0-9]+");
    int[] kernel = {Integer.parseInt(version[0]), Integer.parseInt(version[1])};
    return Arrays.compare(kernel, new int[] {6, 2}) >= 0;
  }

  /** Reads a GID table. Unset entries cannot be read, or are zero. */
  private static Stream<InetAddress> gids(Path table) {
    try (Stream<Path> entries = Files.list(table)) {
      return entries.sorted().map(RdmaDevices::gid).flatMap(Optional::stream).toList().stream();
    } catch (IOException e) {
      return Stream.empty();
    }
  }

  private static Optional<InetAddress> gid(Path entry) {
    try {
      byte[] gid = HexFormat.of().parseHex(Files.readString(entry).strip().replace(":", ""));
      return Optional.of(InetAddress.getByAddress(gid));
    } catch (UnknownHostException e) {
      throw new AssertionError("a GID has 16 bytes", e);
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
