// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.RcEndpoint;
import dev.sluice.examples.RcExample;
import dev.sluice.examples.Rendezvous;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * A command whose two sides connect over TCP, and then connect queue pairs of their ports without
 * rdma_cm. The client names the server. {@link ToolCommand.Timed} runs the command on a daemon
 * thread, which alone calls the methods. Options have the letters of the C programs, and the
 * default TCP port is that of perftest and of the ping-pong programs in C. {@link Example} is the
 * shortest of these commands.
 */
abstract class PeerCommand extends ToolCommand.Timed {
  @Parameters(
      arity = "0..1",
      paramLabel = "SERVER",
      description = "Host of the server; if it is absent, run as the server and wait for a client")
  private @Nullable String server;

  @Option(
      names = {"-p", "--port"},
      paramLabel = "PORT",
      description = "TCP port of the server (default: ${DEFAULT-VALUE})")
  private int tcpPort = 18515;

  @Option(
      names = {"-d", "--ib-dev"},
      paramLabel = "DEVICE",
      description = "RDMA device (default: the first one)")
  private @Nullable String device;

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "PORT",
      description = "Port of the device, from 1 (default: ${DEFAULT-VALUE})")
  private int port = 1;

  @Option(
      names = {"-g", "--gid-index"},
      paramLabel = "INDEX",
      description =
          "Local GID, by its index in the port's table (default: on Ethernet a GID of this network"
              + " namespace, preferably of RoCE v2 and an IPv4 address; on InfiniBand none)")
  private @Nullable Integer gidIndex;

  @Option(
      names = {"-l", "--sl"},
      paramLabel = "SL",
      description = "InfiniBand service level, 0 to 15 (default: ${DEFAULT-VALUE})")
  private int serviceLevel;

  final boolean isClient() {
    return server != null;
  }

  /** Opens the port of the device; the caller closes it. */
  final LocalPort openPort() throws IOException {
    return new LocalPort(device, port, gidIndex, serviceLevel);
  }

  /** Connects to the other side; the caller closes the connection. */
  final Rendezvous meet() throws IOException {
    return meet(1).getFirst();
  }

  /**
   * Waits for a number of clients, or connects to the server. The caller closes all connections.
   */
  final List<Rendezvous> meet(int clients) throws IOException {
    return Rendezvous.open(server, tcpPort, clients, this);
  }

  /** The command {@code bin/verbs rc-example}: runs the first program of the verbs manuals. */
  @Command(
      name = "rc-example",
      description = {
        "The RC example of the verbs manuals (RDMA_RC_example.c). The peer is that program or this"
            + " command. The server SENDs a message. The client READs the server's buffer, then"
            + " WRITEs into it. Both check what they received."
      })
  static final class Example extends PeerCommand {
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
}
