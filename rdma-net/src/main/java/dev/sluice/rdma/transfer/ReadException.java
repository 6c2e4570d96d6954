// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.WorkCompletionStatus;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Final failure of a read by RDMA, with peer, cause and completion status. {@link PendingReads}
 * makes it, the {@link ReadListener} gets it.
 */
public final class ReadException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Cause of the failure, as far as callers have to act differently. */
  public enum Cause {
    /** REM_ACCESS_ERR: the location is stale. Does not count against the peer. */
    STALE_LOCATION,
    /** No queue pair could be connected. */
    CONNECT,
    /** The transfer failed on a fresh queue pair as well, or cannot work on any. */
    TRANSPORT,
    /** The deadline passed. */
    DEADLINE,
    /** READs from the peer failed so often that it is not tried for a while. */
    CIRCUIT_OPEN,
    /** The endpoint is closed. */
    CLOSED
  }

  private final Cause failure;

  /**
   * @param status completion status of the failed work request; null if none failed
   */
  public ReadException(
      Cause failure, @Nullable WorkCompletionStatus status, PeerAddress peer, String detail) {
    super("READ from " + peer + " failed: " + detail + (status == null ? "" : " (" + status + ")"));
    this.failure = failure;
  }

  public Cause failure() {
    return failure;
  }
}
