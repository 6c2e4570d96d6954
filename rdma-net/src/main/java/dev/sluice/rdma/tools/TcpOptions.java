package dev.sluice.rdma.tools;

import java.io.IOException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Options of commands whose two sides first meet over TCP, and which of them this is. */
final class TcpOptions {
  @Parameters(
      arity = "0..1",
      paramLabel = "SERVER",
      description = "Host of the server; without it, be the server and wait for a client")
  private String server;

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

  /** Meets the other side; the caller closes the connection. */
  Rendezvous meet() throws IOException {
    return Rendezvous.open(server, port, deadline);
  }
}
