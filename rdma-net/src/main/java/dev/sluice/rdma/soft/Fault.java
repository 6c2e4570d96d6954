package dev.sluice.rdma.soft;

import dev.sluice.rdma.WorkCompletionStatus;

/**
 * What happens to one request at its responder.
 *
 * @param kind what
 * @param delayMs for {@link Kind#DELAY}
 * @param status for {@link Kind#STATUS}; else null
 */
record Fault(Kind kind, int delayMs, WorkCompletionStatus status) {
  static final Fault NONE = new Fault(Kind.DELIVER, 0, null);

  enum Kind {
    /** Served as it should be. */
    DELIVER,
    /** The answer is held back. */
    DELAY,
    /** Not served but answered with an error. */
    STATUS,
    /** One byte of a READ's answer is falsified. */
    CORRUPT,
    /** The connection is cut. */
    KILL
  }
}
