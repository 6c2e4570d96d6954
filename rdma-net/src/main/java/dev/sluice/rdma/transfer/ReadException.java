package dev.sluice.rdma.transfer;

import dev.sluice.rdma.WorkCompletionStatus;
import java.io.IOException;

/** A read that failed for good as far as RDMA is concerned: peer, cause and completion status. */
public final class ReadException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Why, as far as the caller has to act differently. */
  public enum Cause {
    /** REM_ACCESS_ERR: the location is stale; says nothing against the peer. */
    STALE_LOCATION,
    /** No queue pair could be connected. */
    CONNECT,
    /** The transfer broke, also on a fresh queue pair, or could not work on any. */
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
   * @param status completion status of the work request that failed; null where none did
   */
  public ReadException(
      Cause failure, WorkCompletionStatus status, PeerAddress peer, String detail) {
    super("READ from " + peer + " failed: " + detail + (status == null ? "" : " (" + status + ")"));
    this.failure = failure;
  }

  public Cause failure() {
    return failure;
  }
}
