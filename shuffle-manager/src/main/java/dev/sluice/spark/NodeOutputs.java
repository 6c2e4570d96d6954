// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import java.io.IOException;

/**
 * An executor's map outputs at the node daemon. {@link NodeHandOver} implements and closes it;
 * {@link AwaitedHandOver} and {@link BackgroundHandOver} call it. Any thread; calls other than
 * {@link #isKnown} may wait.
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
