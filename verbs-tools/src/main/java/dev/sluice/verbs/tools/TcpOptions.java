// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.Rendezvous;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Options of commands whose two sides first connect over TCP. The client names the server. The
 * default port is that of perftest and of the ping-pong programs in C.
 */
final class TcpOptions {
  @Parameters(
      arity = "0..1",
      paramLabel = "SERVER",
      description = "Host of the server; if it is absent, run as the server and wait for a client")
  private @Nullable String server;

  @Option(
      names = {"-p", "--port"},
      paramLabel = "PORT",
      description = "TCP port of the server (default: ${DEFAULT-VALUE})")
  private int port = 18515;

  @Mixin private Deadline deadline;

  boolean isClient() {
    return server != null;
  }

  Deadline deadline() {
    return deadline;
  }

  /** Connects to the other side; the caller closes the connection. */
  Rendezvous meet() throws IOException {
    return meet(1).getFirst();
  }

  /** Connects to a number of clients, or to the server. */
  List<Rendezvous> meet(int clients) throws IOException {
    return Rendezvous.open(server, port, clients, deadline);
  }
}
