package dev.sluice.spark.locate;

import java.io.IOException;

/** How an executor asks the driver's {@link LocationDirectory}. */
@FunctionalInterface
public interface DriverChannel {
  /**
   * Blocks until the answer is there, or a deadline of its own has passed.
   *
   * @throws IOException when there is no answer
   */
  DirectoryMessage ask(DirectoryMessage message) throws IOException;
}
