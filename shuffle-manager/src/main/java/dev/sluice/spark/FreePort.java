// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import java.io.IOException;
import org.apache.spark.util.Utils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens at a port or one of the next ports, by Spark's rules for its own services. {@link
 * ReadingRuntime} opens the block server by it, on the thread that starts the runtime.
 */
final class FreePort {
  private static final Logger LOG = LoggerFactory.getLogger(FreePort.class);

  private FreePort() {}

  /** Server that is to listen. Netty throws an IOException that it does not declare. */
  @FunctionalInterface
  interface Service<T> {
    T listen(int port) throws IOException;
  }

  /**
   * Listens at the first free port.
   *
   * @param port the first port to try; 0 for any free port
   * @param retries number of further ports to try if it is taken
   * @param service listens at a port, or throws
   */
  static <T> T listen(int port, int retries, Service<T> service) throws IOException {
    for (int tried = 0; ; tried++) {
      int next = port == 0 ? 0 : Utils.userPort(port, tried);
      try {
        return service.listen(next);
      } catch (IOException | RuntimeException e) {
        if (!Utils.isBindCollision(e)) {
          throw e;
        }
        if (port == 0 || tried == retries) {
          throw new IOException(
              "None of " + (1 + tried) + " ports from " + port + " on is free", e);
        }
        LOG.info("Port {} is taken; trying the next one", next);
      }
    }
  }
}
