// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.RcEndpoint;
import dev.sluice.examples.RcExample;
import dev.sluice.examples.Rendezvous;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * The command {@code bin/verbs rc-example}: runs the first program of the verbs manuals, a SEND, a
 * READ and a WRITE between two processes.
 */
@Command(
    name = "rc-example",
    description = {
      "The RC example of the verbs manuals (RDMA_RC_example.c). The peer is that program or this"
          + " command. The server SENDs a message. The client READs the server's buffer, then"
          + " WRITEs into it. Both check what they received."
    })
final class RcExampleCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private DeviceOptions device;
  @Mixin private TcpOptions tcp;

  @Override
  public Integer call() throws IOException {
    try (Arena arena = Arena.ofShared();
        LocalPort port = device.open();
        Rendezvous peer = tcp.meet()) {
      RcEndpoint endpoint = new RcEndpoint(port.context(), arena, port.path(), tcp.deadline());
      RcExample example = new RcExample(endpoint, peer, spec.commandLine().getOut());
      if (tcp.isClient()) {
        example.runClient();
      } else {
        example.runServer();
      }
    }
    return 0;
  }
}
