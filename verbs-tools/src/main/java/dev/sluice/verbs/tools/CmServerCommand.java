// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.CmServer;
import dev.sluice.verbs.cm.RdmaAddrInfo;
import dev.sluice.verbs.ibv.IbvQp;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command {@code bin/verbs server}: answers a message of each client, as rdma_server does for
 * one. A shared receive queue needs a device before the first client connects: that of --bind.
 */
@Command(
    name = "server",
    description =
        "Accepts verbs client or rdma_client of rdmacm-utils by rdma_cm, receives 16 bytes and sends"
            + " 16.")
final class CmServerCommand extends ToolCommand {
  @Mixin private CmOptions options;

  @Option(
      names = {"-n", "--clients"},
      paramLabel = "CLIENTS",
      description = "Clients to accept before the first is answered (default: ${DEFAULT-VALUE})")
  private int clients = 1;

  @Option(names = "--srq", description = "Receive from all clients by one shared receive queue")
  private boolean shared;

  @Override
  void run() throws IOException {
    require(
        clients >= 1 && (!shared || options.bind() != null),
        "--clients must be positive, and --srq needs --bind");
    try (RdmaAddrInfo address = options.resolve(null, IbvQp.Type.RC);
        CmServer server = new CmServer(address, clients, options.deadline())) {
      out().println("listening at " + server.address());
      for (String message : server.serve(clients, shared)) {
        out().println("received " + message.length() + " bytes");
      }
    }
  }
}
