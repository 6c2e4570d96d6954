// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.CmClient;
import dev.sluice.verbs.cm.RdmaAddrInfo;
import dev.sluice.verbs.ibv.IbvQp;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** The command {@code bin/verbs client}: sends a message and receives one, as rdma_client does. */
@Command(
    name = "client",
    description =
        "Connects by rdma_cm to verbs server or to rdma_server of rdmacm-utils, sends 16 bytes and"
            + " receives 16.")
final class CmClientCommand extends ToolCommand {
  @Mixin private CmOptions options;

  @Parameters(paramLabel = "SERVER", description = "Host of the server")
  private String server;

  @Override
  void run() throws IOException {
    try (RdmaAddrInfo address = options.resolve(server, IbvQp.Type.RC)) {
      String answer = CmClient.run(address, options.deadline());
      out().println("received " + answer.length() + " bytes");
    }
  }
}
