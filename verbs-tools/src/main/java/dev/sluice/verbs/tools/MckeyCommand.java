// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static java.util.Objects.requireNonNull;

import dev.sluice.examples.Multicast;
import dev.sluice.verbs.cm.RdmaCmId;
import java.io.IOException;
import java.net.InetAddress;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code bin/verbs mckey}: sends to a multicast group or receives, as mckey does. */
@Command(
    name = "mckey",
    description =
        "Joins a multicast group by rdma_cm and receives messages, or sends them with --sender. The"
            + " other side may be mckey of rdmacm-utils.")
final class MckeyCommand extends ToolCommand {
  @Mixin private CmOptions options;
  @Mixin private CmMessages messages;

  @Parameters(paramLabel = "GROUP", description = "Multicast address, such as 239.1.2.3")
  private String group;

  @Option(
      names = {"-s", "--sender"},
      description = "Send (default: receive)")
  private boolean sender;

  @Option(
      names = {"-o", "--send-only"},
      description = "Join as a member that only sends")
  private boolean sendOnly;

  @Override
  void run() throws IOException {
    messages.check(this);
    try (Multicast member =
        new Multicast(
            options.bind() == null ? null : InetAddress.getByName(options.bind()),
            InetAddress.getByName(group),
            sendOnly ? RdmaCmId.JoinFlags.SENDONLY_FULLMEMBER : RdmaCmId.JoinFlags.FULLMEMBER,
            messages.count(),
            messages.size(),
            options.deadline())) {
      out().println("joined " + requireNonNull(member.group().ahAttr()).dgid());
      for (int i = 0; i < messages.count(); i++) {
        if (sender) {
          member.send("");
        } else {
          member.receive();
        }
      }
      out().println((sender ? "sent " : "received ") + messages.count() + " messages");
    }
  }
}
