// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import java.io.IOException;

/**
 * Channel by which an executor asks the driver's {@link LocationDirectory}. {@link
 * RpcDriverChannel} implements it. Threads that may block call it: the one that starts the runtime,
 * the publisher's, those for questions to the driver and for hand-overs, and map tasks'. Nothing to
 * close.
 */
@FunctionalInterface
public interface DriverChannel {
  /**
   * Sends a message. Blocks until the answer arrives, or a deadline of its own has passed.
   *
   * @throws IOException if there is no answer
   */
  DirectoryMessage ask(DirectoryMessage message) throws IOException;

  /**
   * Returns false if the driver says that it has no directory, for example because its JVM is too
   * old. Returns true if it does not answer, since it may have one. Blocks as {@link #ask} does.
   */
  default boolean hasDirectory() {
    return true;
  }
}
