// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Finding about a kernel without an RDMA device, which explains all other findings about verbs.
 * {@link Checks} puts it in the place of {@link DevicesCheck}, with the same name, if it {@link
 * #applies}. It only reads files.
 */
record NoDeviceCheck(Path root) implements Check {
  /** Returns true if the kernel says that it has no device. */
  boolean applies() {
    if (!Files.isDirectory(root.resolve("sys/class"))) {
      return false;
    }
    try (Stream<Path> devices = Files.list(directory())) {
      return devices.findAny().isEmpty();
    } catch (IOException e) {
      return !hasRdma();
    }
  }

  private Path directory() {
    return root.resolve("sys/class/infiniband");
  }

  private boolean hasRdma() {
    return Files.isDirectory(directory());
  }

  @Override
  public String name() {
    return DevicesCheck.NAME;
  }

  @Override
  public List<Finding> findings() {
    return List.of(
        Finding.warn(
                name(),
                hasRdma()
                    ? "the kernel has no RDMA device, although RDMA modules are loaded"
                    : "the kernel has no RDMA device: no RDMA module is loaded",
                "none needed if blocks may go by software; otherwise modprobe ib_uverbs and the"
                    + " device's driver, such as mlx5_ib of ConnectX, on the host")
            .with("devices", 0)
            .with("modules_loaded", hasRdma()));
  }
}
