package dev.sluice.rdma.tools;

import dev.sluice.rdma.verbs.ibv.IbvDevice;
import dev.sluice.rdma.verbs.ibv.IbvDeviceAttr;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a port's device, the kernel and rdma-core are. What the machine does not say, as in a
 * container that hides files, is left out.
 */
final class RowFacts {
  /** rdma-core gives its own version to its libraries' files, such as libibverbs.so.1.14.44.0. */
  private static final Pattern LIBRARY = Pattern.compile("libibverbs\\.so\\.1\\.\\d+\\.(\\S+)");

  private final LocalPort port;
  private final Path sysfs;

  RowFacts(LocalPort port) {
    this.port = port;
    this.sysfs = Path.of(port.context().device().sysfsPath());
  }

  void addTo(HardwareRow row) throws IOException {
    IbvDeviceAttr attr = port.context().queryDevice();
    row.with(RowColumn.DEVICE, device(attr))
        .with(RowColumn.FIRMWARE, attr.fwVer())
        .with(RowColumn.LINK, link())
        .with(RowColumn.KERNEL, "%s %s".formatted(property("os.version"), property("os.arch")))
        .with(RowColumn.RDMA_CORE, rdmaCore(Files.readAllLines(Path.of("/proc/self/maps"))));
  }

  private String device(IbvDeviceAttr attr) throws IOException {
    IbvDevice device = port.context().device();
    return joined(
        device.name(),
        driver(),
        "%04x:%d".formatted(attr.vendorId(), attr.vendorPartId()),
        read(sysfs.resolve("board_id")));
  }

  /** Empty for a device in software, which has none. */
  private String driver() throws IOException {
    Path driver = sysfs.resolve("device/driver");
    return Files.exists(driver) ? driver.toRealPath().getFileName().toString() : "";
  }

  private String link() throws IOException {
    return joined(
        PortInfo.text(port.attributes().linkLayer()),
        read(sysfs.resolve("ports/" + port.number() + "/rate")),
        "MTU " + port.activeMtu().bytes());
  }

  /**
   * The version of the library that is loaded.
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
