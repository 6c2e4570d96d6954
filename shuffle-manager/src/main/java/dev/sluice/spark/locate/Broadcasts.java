// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import java.io.IOException;

/**
 * Spark's broadcast, as far as the directory uses it for large tables. {@link SparkBroadcasts}
 * implements it. Threads {@code sluice-blocking-N} of the driver ship. Threads of an executor that
 * ask the driver fetch. {@link LocationDirectory} destroys, with no lock held.
 */
public interface Broadcasts {
  /**
   * A broadcast that the driver has made.
   *
   * @param handle bytes that executors need to {@link #fetch} it
   * @param destroy frees it everywhere; may block
   */
  record Shipped(byte[] handle, Runnable destroy) {}

  /** Makes the bytes available to executors. Called on the driver; may block for a short time. */
  Shipped ship(byte[] bytes) throws IOException;

  /** Fetches the bytes. Called on an executor; blocks. */
  byte[] fetch(byte[] handle) throws IOException;
}
