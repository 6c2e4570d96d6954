// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import java.io.IOException;

/**
 * Offers an executor's map outputs to the node daemon, and tells which of them the executor serves.
 * {@link ReadingRuntime} makes it. Map tasks' threads call it, and threads of Spark's transport for
 * map outputs that migrate here. There is nothing to close.
 */
interface HandOver {
  /** Offers nothing: all map outputs stay with the executor. */
  HandOver NONE =
      new HandOver() {
        @Override
        public void expect() {}

        @Override
        public boolean committed(int shuffleId, long mapId) {
          return true;
        }
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

  /**
   * An executor's map outputs at the node daemon. {@link NodeHandOver} implements and closes it;
   * {@link AwaitedHandOver} calls it. Any thread; calls other than {@link #isKnown} may wait.
   */
  interface NodeOutputs {
    /** Returns true once the daemon knows this executor. */
    boolean isKnown();

    /**
     * Returns when the daemon knows the executor and, as far as it can tell, takes map outputs, and
     * the driver knows the node.
     *
     * @throws IOException if that is not possible; the message is the reason
     */
    void ask() throws IOException;

    /**
     * Returns when the node has the map output, and readers can find it there.
     *
     * @throws IOException if that is not possible; the message is the reason
     */
    void handOver(int shuffleId, long mapId) throws IOException;
  }
}
