// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import java.io.IOException;
import java.net.ServerSocket;

/** Finds free TCP ports for programs that take a port number. */
final class FreePort {
  private FreePort() {}

  static int find() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
