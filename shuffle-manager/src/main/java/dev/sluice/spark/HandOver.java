// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import java.io.IOException;

/**
 * Offers an executor's map outputs to the node daemon, and tells which of them the executor serves.
 * {@link ReadingRuntime} makes it. Map tasks' threads call it, and threads of Spark's transport for
 * map outputs that migrate here, which none do with {@code node=on}. The runtime closes it if it
 * has a thread.
 */
interface HandOver extends AutoCloseable {
  /** Offers nothing: all map outputs stay with the executor. */
  HandOver NONE =
      new HandOver() {
        @Override
        public void expect() {}

        @Override
        public boolean committed(int shuffleId, long mapId) {
          return true;
        }

        @Override
        public void close() {}
      };

  /** Called when a map task begins. Never waits. */
  void expect();

  /**
   * Called when a map task has committed.
   *
   * @return true if the executor serves the map output, false if its node does so instead
   * @throws IOException if the task must fail; the message is the reason
   */
  boolean committed(int shuffleId, long mapId) throws IOException;

  @Override
  void close();
}
