// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

/**
 * Times that the driver has to decide about a node daemon that did not answer an executor. {@link
 * NodeLifetimes} asks the daemon, then finds out whether its port refuses connections, then asks it
 * once more. The executor waits for the decision, and goes on without it when its own time is over.
 *
 * @param checkMs time for the answer to the first question
 * @param connectMs time for a connection to the daemon's port to be taken or refused
 * @param lastTryMs time for one more answer before map outputs are lost
 */
record DecisionTimes(long checkMs, int connectMs, long lastTryMs) {
  /** A machine that is there takes or refuses a connection at once. */
  private static final long MOST_CONNECT_MS = 1_000;

  /** Enough to ask once again after a connection that failed in the last second. */
  private static final long MOST_LAST_TRY_MS = 2_000;

  /**
   * Returns the times for an executor that waits so long for the driver. A tenth is left for the
   * way of the report and of its answer. Below 5.5 s the last try is too short to connect again
   * after a connection that has just failed.
   */
  static DecisionTimes within(long executorMs) {
    return new DecisionTimes(
        executorMs * 3 / 5,
        (int) Math.min(executorMs / 10, MOST_CONNECT_MS),
        Math.min(executorMs / 5, MOST_LAST_TRY_MS));
  }
}
