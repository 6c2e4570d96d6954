// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.row;

import dev.sluice.benchmarks.row.HardwareRow.RowColumn;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvDevice;
import dev.sluice.verbs.ibv.IbvDeviceAttr;
import dev.sluice.verbs.ibv.IbvDeviceList;
import dev.sluice.verbs.ibv.IbvPortAttr;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds facts about an RDMA port's device, the kernel and rdma-core. Omits facts that the machine
 * does not show, as in a container that hides files. {@link RowCommand} calls it on its thread; it
 * opens the device and closes it again.
 */
final class RowFacts {
  /** rdma-core's version is in the names of its libraries, such as libibverbs.so.1.14.44.0. */
  private static final Pattern LIBRARY = Pattern.compile("libibverbs\\.so\\.1\\.\\d+\\.(\\S+)");

  private final IbvContext context;
  private final int port;
  private final Path sysfs;

  private RowFacts(IbvContext context, int port) {
    this.context = context;
    this.port = port;
    this.sysfs = Path.of(context.device().sysfsPath());
  }

  /**
   * Adds the facts to a row.
   *
   * @param device name of the device; null for the first one
   */
  static void add(@Nullable String device, int port, HardwareRow row) throws IOException {
    try (IbvDeviceList list = IbvDeviceList.get();
        IbvContext context =
            (device == null ? list.devices().stream().findFirst() : list.find(device))
                .orElseThrow(() -> new IOException("there is no RDMA device" + suffix(device)))
                .open()) {
      new RowFacts(context, port).addTo(row);
    }
  }

  private static String suffix(@Nullable String device) {
    return device == null ? "" : " " + device;
  }

  private void addTo(HardwareRow row) throws IOException {
    IbvDeviceAttr attr = context.queryDevice();
    row.with(RowColumn.DEVICE, device(attr))
        .with(RowColumn.FIRMWARE, attr.fwVer())
        .with(RowColumn.LINK, link())
        .with(RowColumn.KERNEL, "%s %s".formatted(property("os.version"), property("os.arch")))
        .with(RowColumn.RDMA_CORE, rdmaCore(Files.readAllLines(Path.of("/proc/self/maps"))));
  }

  private String device(IbvDeviceAttr attr) throws IOException {
    IbvDevice device = context.device();
    return joined(
        device.name(),
        driver(),
        "%04x:%d".formatted(attr.vendorId(), attr.vendorPartId()),
        read(sysfs.resolve("board_id")));
  }

  /** Returns the driver's name; empty for a device in software, which has none. */
  private String driver() throws IOException {
    Path driver = sysfs.resolve("device/driver");
    return Files.exists(driver) ? driver.toRealPath().getFileName().toString() : "";
  }

  private String link() throws IOException {
    IbvPortAttr attr = context.queryPort(port);
    return joined(
        attr.linkLayer().is(IbvPortAttr.LinkLayer.ETHERNET) ? "Ethernet" : "InfiniBand",
        read(sysfs.resolve("ports/" + port + "/rate")),
        attr.activeMtu().known().map(mtu -> "MTU " + mtu.bytes()).orElse(""));
  }

  /**
   * Returns the version of the loaded library.
   *
   * @param maps lines of proc_pid_maps(5)
   */
  static String rdmaCore(List<String> maps) {
    return maps.stream()
        .map(LIBRARY::matcher)
        .filter(Matcher::find)
        .map(library -> library.group(1))
        .findFirst()
        .orElse("");
  }

  private static String property(String name) {
    return Objects.toString(System.getProperty(name), "");
  }

  private static String read(Path file) throws IOException {
    return Files.isReadable(file) ? Files.readString(file).strip() : "";
  }

  private static String joined(String... texts) {
    return Stream.of(texts).filter(text -> !text.isBlank()).collect(Collectors.joining(", "));
  }
}
