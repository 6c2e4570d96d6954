// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.CmServer;
import dev.sluice.verbs.cm.RdmaAddrInfo;
import dev.sluice.verbs.ibv.IbvQp;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command {@code bin/verbs server}: answers a message of each client, as rdma_server does for
 * one. A shared receive queue needs a device before the first client connects, and only --bind
 * chooses one.
 */
@Command(
    name = "server",
    description =
        "Accepts verbs client or rdma_client of rdmacm-utils by rdma_cm, receives 16 bytes and sends"
            + " 16.")
final class CmServerCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private CmOptions options;

  @Option(
      names = {"-n", "--clients"},
      paramLabel = "CLIENTS",
      description = "Clients to accept before the first is answered (default: ${DEFAULT-VALUE})")
  private int clients = 1;

  @Option(names = "--srq", description = "Receive from all clients by one shared receive queue")
  private boolean shared;

  @Override
  public Integer call() throws IOException {
    if (clients < 1 || shared && options.bind() == null) {
      throw new ParameterException(
          spec.commandLine(), "--clients must be positive, and --srq needs --bind");
    }
    PrintWriter out = spec.commandLine().getOut();
    try (RdmaAddrInfo address = options.resolve(null, IbvQp.Type.RC);
        CmServer server = new CmServer(address, clients, options.deadline())) {
      out.println("listening at " + server.address());
      for (String message : server.serve(clients, shared)) {
        out.println("received " + message.length() + " bytes");
      }
    }
    return 0;
  }
}
