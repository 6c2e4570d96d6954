// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.RcEndpoint;
import dev.sluice.examples.RcExample;
import dev.sluice.examples.Rendezvous;
import java.io.IOException;
import java.lang.foreign.Arena;
import picocli.CommandLine.Command;

/** The command {@code bin/verbs rc-example}: runs the first program of the verbs manuals. */
@Command(
    name = "rc-example",
    description = {
      "The RC example of the verbs manuals (RDMA_RC_example.c). The peer is that program or this"
          + " command. The server SENDs a message. The client READs the server's buffer, then"
          + " WRITEs into it. Both check what they received."
    })
final class RcExampleCommand extends PeerCommand {
  @Override
  void run() throws IOException {
    try (Arena arena = Arena.ofShared();
        LocalPort port = openPort();
        Rendezvous peer = meet()) {
      RcEndpoint endpoint = new RcEndpoint(port.context(), arena, port.path(), this);
      RcExample example = new RcExample(endpoint, peer, out());
      if (isClient()) {
        example.runClient();
      } else {
        example.runServer();
      }
    }
  }
}
