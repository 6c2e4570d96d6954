// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.WorkCompletionStatus;

/**
 * The treatment of one request at its responder. A {@link FaultPlan} chooses it; the {@link
 * Responder} carries it out on the event loop's thread. Immutable.
 *
 * @param kind of the fault
 * @param delayMs for {@link Kind#DELAY}
 * @param status for {@link Kind#STATUS}; otherwise null
 */
record Fault(Kind kind, int delayMs, WorkCompletionStatus status) {
  static final Fault NONE = new Fault(Kind.DELIVER, 0, null);

  enum Kind {
    /** Serves the request normally. */
    DELIVER,
    /** Delays the answer. */
    DELAY,
    /** Answers with an error instead of serving the request. */
    STATUS,
    /** Falsifies one byte of the answer to a READ. */
    CORRUPT,
    /** Cuts the connection. */
    KILL
  }
}
