package dev.sluice.rdma.verbs;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.Provider;
import dev.sluice.rdma.ProviderUnavailableException;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * RDMA by libibverbs. This release has no binding of it: opening says whether the machine has a
 * device at all.
 */
public final class VerbsProvider implements Provider {
  public static final String NAME = "verbs";

  /** Where the kernel lists RDMA devices. */
  public static final Path SYSFS_DEVICES = Path.of("/sys/class/infiniband");

  private final Path devices;
  private final VerbsOptions options;

  /**
   * @param devices directory with an entry for each RDMA device
   */
  public VerbsProvider(Path devices, VerbsOptions options) {
    this.devices = devices;
    this.options = options;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Device open(InetAddress localAddress) throws IOException {
    List<String> names = deviceNames();
    throw new ProviderUnavailableException(
        names.isEmpty()
            ? "there is no RDMA device in " + devices
            : "this release has no verbs binding yet for " + String.join(", ", names));
  }

  private List<String> deviceNames() throws IOException {
    if (!Files.isDirectory(devices)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(devices)) {
      return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
    }
  }
}
