// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.ibv.IbvDevice;
import dev.sluice.verbs.ibv.IbvDeviceList;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine.Command;

/** The command {@code bin/verbs devices}: lists the RDMA devices, as ibv_devices does. */
@Command(name = "devices", description = "Lists the RDMA devices and their node GUIDs.")
final class DevicesCommand extends ToolCommand {
  @Override
  void run() throws IOException {
    PrintWriter out = out();
    try (IbvDeviceList list = IbvDeviceList.get()) {
      out.printf("    %-16s\t   node GUID%n", "device");
      out.printf("    %-16s\t----------------%n", "------");
      for (IbvDevice device : list.devices()) {
        out.printf("    %-16s\t%016x%n", device.name(), device.guid());
      }
    }
  }
}
