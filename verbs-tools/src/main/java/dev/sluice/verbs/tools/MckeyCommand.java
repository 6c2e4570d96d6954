// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.Multicast;
import dev.sluice.verbs.cm.RdmaCmId;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The command {@code bin/verbs mckey}: sends to a multicast group, or receives from it, as mckey
 * does.
 */
@Command(
    name = "mckey",
    description =
        "Joins a multicast group by rdma_cm and receives messages, or sends them with --sender. The"
            + " other side may be mckey of rdmacm-utils.")
final class MckeyCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
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
  public Integer call() throws IOException {
    messages.check(spec);
    PrintWriter out = spec.commandLine().getOut();
    try (Multicast member =
        new Multicast(
            options.bind() == null ? null : InetAddress.getByName(options.bind()),
            InetAddress.getByName(group),
            sendOnly ? RdmaCmId.JoinFlags.SENDONLY_FULLMEMBER : RdmaCmId.JoinFlags.FULLMEMBER,
            messages.count(),
            messages.size(),
            options.deadline())) {
      out.println("joined " + member.group().ahAttr().dgid());
      for (int i = 0; i < messages.count(); i++) {
        if (sender) {
          member.send("");
        } else {
          member.receive();
        }
      }
      out.println((sender ? "sent " : "received ") + messages.count() + " messages");
    }
    return 0;
  }
}
