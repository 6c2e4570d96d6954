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

  /**
   * False where the driver says that it has no directory, as one has on a JVM that is too old for
   * it; what does not answer may have one. Blocks as {@link #ask} does.
   */
  default boolean hasDirectory() {
    return true;
  }
}
