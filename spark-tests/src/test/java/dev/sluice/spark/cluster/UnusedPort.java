package dev.sluice.spark.cluster;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** A TCP port for a service whose clients must know it before it starts. */
public final class UnusedPort {
  private static final int TRIES = 100;

  private UnusedPort() {}

  /**
   * Nobody listens at it now. It is below those that the kernel hands out, so that nobody gets it
   * by chance before the service.
   *
   * @throws IOException when none of many was free
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
