// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.Datagrams;
import dev.sluice.verbs.cm.RdmaAddrInfo;
import dev.sluice.verbs.ibv.IbvQp;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** The command {@code bin/verbs udaddy}: exchanges datagrams by rdma_cm, as udaddy does. */
@Command(
    name = "udaddy",
    description =
        "Finds a datagram service by rdma_cm, sends messages to it and receives as many. Either"
            + " side may be udaddy of rdmacm-utils.")
final class UdaddyCommand extends ToolCommand {
  @Mixin private CmOptions options;
  @Mixin private CmMessages messages;

  @Parameters(
      arity = "0..1",
      paramLabel = "SERVER",
      description = "Host of the service; if it is absent, run as the service of one client")
  private @Nullable String server;

  @Override
  void run() throws IOException {
    messages.check(this);
    try (RdmaAddrInfo address = options.resolve(server, IbvQp.Type.UD);
        Datagrams datagrams =
            new Datagrams(address, messages.count(), messages.size(), options.deadline())) {
      if (server == null) {
        out().println("listening at " + datagrams.listen());
        datagrams.serve();
      } else {
        datagrams.ask();
      }
      out().println("sent and received " + messages.count() + " messages");
    }
  }
}
