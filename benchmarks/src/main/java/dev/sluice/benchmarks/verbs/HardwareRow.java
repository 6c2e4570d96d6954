// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.verbs;

import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvDeviceAttr;
import dev.sluice.verbs.ibv.IbvDeviceList;
import dev.sluice.verbs.ibv.IbvPortAttr;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A machine's row of the table in docs/dev/hardware-rows.md. {@link RowCommand} creates and fills
 * it on its thread.
 */
final class HardwareRow {
  private static final String UNKNOWN = "?";

  /** rdma-core's version is in the names of its libraries, such as libibverbs.so.1.14.44.0. */
  private static final Pattern LIBRARY = Pattern.compile("libibverbs\\.so\\.1\\.\\d+\\.(\\S+)");

  private final Map<RowColumn, String> cells = new EnumMap<>(RowColumn.class);

  /**
   * @param text text of the cell; blank if the fact is unknown
   */
  HardwareRow with(RowColumn column, String text) {
    if (!text.isBlank()) {
      cells.put(column, text.strip());
    }
    return this;
  }

  /**
   * Adds facts about an RDMA port's device, the kernel and rdma-core. Opens the device and closes
   * it again. Omits facts that the machine does not show, as in a container that hides files.
   *
   * @param device name of the device; null for the first one
   */
  HardwareRow withFacts(@Nullable String device, int port) throws IOException {
    String suffix = device == null ? "" : " " + device;
    try (IbvDeviceList list = IbvDeviceList.get();
        IbvContext context =
            (device == null ? list.devices().stream().findFirst() : list.find(device))
                .orElseThrow(() -> new IOException("there is no RDMA device" + suffix))
                .open()) {
      IbvDeviceAttr attr = context.queryDevice();
      return with(RowColumn.DEVICE, device(context, attr))
          .with(RowColumn.FIRMWARE, attr.fwVer())
          .with(RowColumn.LINK, link(context, port))
          .with(RowColumn.KERNEL, "%s %s".formatted(property("os.version"), property("os.arch")))
          .with(RowColumn.RDMA_CORE, rdmaCore(Files.readAllLines(Path.of("/proc/self/maps"))));
    }
  }

  private static String device(IbvContext context, IbvDeviceAttr attr) throws IOException {
    Path driver = sysfs(context).resolve("device/driver"); // A device in software has none.
    return joined(
        context.device().name(),
        Files.exists(driver) ? driver.toRealPath().getFileName().toString() : "",
        "%04x:%d".formatted(attr.vendorId(), attr.vendorPartId()),
        read(sysfs(context).resolve("board_id")));
  }

  private static String link(IbvContext context, int port) throws IOException {
    IbvPortAttr attr = context.queryPort(port);
    return joined(
        attr.linkLayer().is(IbvPortAttr.LinkLayer.ETHERNET) ? "Ethernet" : "InfiniBand",
        read(sysfs(context).resolve("ports/" + port + "/rate")),
        attr.activeMtu().known().map(mtu -> "MTU " + mtu.bytes()).orElse(""));
  }

  private static Path sysfs(IbvContext context) {
    return Path.of(context.device().sysfsPath());
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

  /** Returns one line of Markdown without a line break. */
  String markdown() {
    return line(
        Arrays.stream(RowColumn.values())
            .map(column -> cells.getOrDefault(column, UNKNOWN))
            .map(text -> text.replaceAll("\\s+", " ").replace("|", "\\|")));
  }

  /** Returns the titles of the columns without text. */
  List<String> unknown() {
    return Arrays.stream(RowColumn.values())
        .filter(column -> !cells.containsKey(column))
        .map(RowColumn::title)
        .toList();
  }

  private static String line(Stream<String> texts) {
    return texts.collect(Collectors.joining(" | ", "| ", " |"));
  }

  /**
   * Columns of the table in docs/dev/hardware-rows.md, in their order; a new one changes that
   * table, too.
   */
  enum RowColumn {
    DEVICE("device"),
    FIRMWARE("firmware"),
    LINK("link"),
    KERNEL("kernel"),
    RDMA_CORE("rdma-core"),
    HOSTS("hosts"),
    READ_64_KIB("READ of 64 KiB, MiB/s"),
    READ_1_MIB("READ of 1 MiB, MiB/s"),
    READ_2_B("READ of 2 B, us"),
    TERASORT("TeraSort");

    private final String title;

    RowColumn(String title) {
      this.title = title;
    }

    String title() {
      return title;
    }
  }
}
