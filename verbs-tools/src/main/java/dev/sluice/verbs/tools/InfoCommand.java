// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvDevice;
import dev.sluice.verbs.ibv.IbvDeviceList;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code bin/verbs info}: prints devices and ports in the form of ibv_devinfo. */
@Command(name = "info", description = "Prints the attributes of devices and their ports.")
final class InfoCommand extends ToolCommand {
  @Parameters(
      arity = "0..1",
      paramLabel = "DEVICE",
      description = "RDMA device (default: all of them)")
  private @Nullable String device;

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "PORT",
      description = "Port, from 1 (default: all ports)")
  private @Nullable Integer port;

  @Option(
      names = {"-v", "--verbose"},
      description = "Print all attributes, and the GIDs")
  private boolean verbose;

  @Override
  void run() throws IOException {
    try (IbvDeviceList list = IbvDeviceList.get()) {
      for (IbvDevice chosen : chosen(list)) {
        try (IbvContext context = chosen.open()) {
          print(context);
        }
      }
    }
  }

  private List<IbvDevice> chosen(IbvDeviceList list) throws IOException {
    List<IbvDevice> chosen =
        list.devices().stream().filter(d -> device == null || d.name().equals(device)).toList();
    if (chosen.isEmpty()) {
      throw new IOException("there is no RDMA device" + (device == null ? "" : " " + device));
    }
    return chosen;
  }

  private void print(IbvContext context) throws IOException {
    PrintWriter out = out();
    int ports = context.queryDevice().physPortCnt();
    if (port != null && (port < 1 || port > ports)) {
      throw new IOException(context.device() + " has no port " + port + ": ports 1 to " + ports);
    }
    new DeviceInfo(context, out).print(verbose);
    PortInfo info = new PortInfo(context, out);
    for (int number = 1; number <= ports; number++) {
      if (port == null || port == number) {
        info.print(number, verbose);
      }
    }
    out.println();
  }

  /** The command {@code bin/verbs devices}: lists the RDMA devices, as ibv_devices does. */
  @Command(name = "devices", description = "Lists the RDMA devices and their node GUIDs.")
  static final class Devices extends ToolCommand {
    @Override
    void run() throws IOException {
      try (IbvDeviceList list = IbvDeviceList.get()) {
        out().printf("    %-16s\t   node GUID%n", "device");
        out().printf("    %-16s\t----------------%n", "------");
        for (IbvDevice device : list.devices()) {
          out().printf("    %-16s\t%016x%n", device.name(), device.guid());
        }
      }
    }
  }
}
