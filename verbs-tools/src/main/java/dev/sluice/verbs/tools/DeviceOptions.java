// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import java.io.IOException;
import picocli.CommandLine.Option;

/**
 * Options that choose a port of a device, with the letters that the C programs use. Commands that
 * connect queue pairs themselves mix it in.
 */
final class DeviceOptions {
  @Option(
      names = {"-d", "--ib-dev"},
      paramLabel = "DEVICE",
      description = "RDMA device (default: the first one)")
  private String device;

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "PORT",
      description = "Port of the device, from 1 (default: ${DEFAULT-VALUE})")
  private int port = 1;

  @Option(
      names = {"-g", "--gid-index"},
      paramLabel = "INDEX",
      description =
          "Local GID, by its index in the port's table (default: on Ethernet a GID of this network"
              + " namespace, preferably of RoCE v2 and an IPv4 address; on InfiniBand none)")
  private Integer gidIndex;

  @Option(
      names = {"-l", "--sl"},
      paramLabel = "SL",
      description = "InfiniBand service level, 0 to 15 (default: ${DEFAULT-VALUE})")
  private int serviceLevel;

  /** Opens the device; the caller closes the port. */
  LocalPort open() throws IOException {
    return LocalPort.open(device, port, gidIndex, serviceLevel);
  }
}
