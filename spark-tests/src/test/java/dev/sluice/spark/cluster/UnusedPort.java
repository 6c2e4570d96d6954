// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.cluster;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Finds a TCP port for a service whose clients must know the port before the service starts. */
public final class UnusedPort {
  private static final int TRIES = 100;

  private UnusedPort() {}

  /**
   * Finds a port on which nothing listens now. It is below the range that the kernel hands out, so
   * no other process gets it by chance before the service starts.
   *
   * @throws IOException if none of many ports was free
   */
  public static int find() throws IOException {
    for (int tries = TRIES; ; tries--) {
      int port = ThreadLocalRandom.current().nextInt(20_000, 32_000);
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (BindException e) {
        if (tries == 0) {
          throw e;
        }
      }
    }
  }
}
