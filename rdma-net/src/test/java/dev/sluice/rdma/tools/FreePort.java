package dev.sluice.rdma.tools;

import java.io.IOException;
import java.net.ServerSocket;

/** TCP ports for programs that take a number. */
final class FreePort {
  private FreePort() {}

  static int find() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
