package dev.sluice.rdma.transfer;

import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.WorkCompletionStatus;

/**
 * One request on its way: what of it is posted and how the present attempt goes. Engine thread
 * only.
 *
 * <p>It releases the target buffer only when it is answered and no work request is outstanding, so
 * that memory is never used again while a READ may still write to it.
 */
final class PendingRead {
  private final ReadRequest request;
  private final Peer peer;
  private final long bytes;

  // The next byte to post.
  private int range;
  private long rangeOffset;
  private long targetOffset;

  private Connection connection;
  private int outstanding;
  private boolean broken;
  private WorkCompletionStatus failure;
  private boolean retried;
  private boolean answered;
  private boolean releasedTarget;

  /**
   * @param request of whose target this owns one reference from now on
   */
  PendingRead(ReadRequest request, Peer peer) {
    this.request = request;
    this.peer = peer;
    this.bytes = request.bytes();
    skipEmptyRanges();
  }

  ReadRequest request() {
    return request;
  }

  Peer peer() {
    return peer;
  }

  long bytes() {
    return bytes;
  }

  boolean hasMore() {
    return range < request.ranges().size();
  }

  boolean isStarted() {
    return targetOffset > 0;
  }

  /** The queue pair of the present attempt; null before it. */
  Connection connection() {
    return connection;
  }

  /** Posted work requests that have not been retired. */
  int outstanding() {
    return outstanding;
  }

  /** Whether a work request of the present attempt failed or was flushed. */
  boolean isBroken() {
    return broken;
  }

  /** Status of the work request of its own that failed; null where another broke the queue pair. */
  WorkCompletionStatus failure() {
    return failure;
  }

  boolean isAnswered() {
    return answered;
  }

  /** Bytes of the next work request. */
  int nextBytes(int maxReadBytes) {
    return (int) Math.min(maxReadBytes, request.ranges().get(range).length() - rangeOffset);
  }

  /** Whether the next work request is the last. */
  boolean isLast(int maxReadBytes) {
    return targetOffset + nextBytes(maxReadBytes) == bytes;
  }

  /** Builds the next work request, to be posted on {@code on}. */
  SendWorkRequest next(Connection on, long wrId, boolean signaled, int maxReadBytes) {
    RemoteRegion from = request.ranges().get(range);
    int length = nextBytes(maxReadBytes);
    PooledBuffer target = request.target();
    SendWorkRequest workRequest =
        new SendWorkRequest(
            wrId,
            new ScatterGatherEntry(
                target.segment().address() + targetOffset, length, target.lkey()),
            from.address() + rangeOffset,
            from.rkey(),
            signaled);
    connection = on;
    outstanding++;
    targetOffset += length;
    rangeOffset += length;
    skipEmptyRanges();
    return workRequest;
  }

  /** Takes the outcome of one work request. */
  void retire(WorkCompletionStatus status) {
    outstanding--;
    if (status != WorkCompletionStatus.SUCCESS) {
      broken = true;
      if (status != WorkCompletionStatus.WR_FLUSH_ERR) {
        failure = status;
      }
    }
    releaseTarget();
  }

  /** The queue pair broke before all was posted. */
  void abandon() {
    broken = true;
  }

  /** Starts again from the first byte, nothing being outstanding. */
  void rewind() {
    range = 0;
    rangeOffset = 0;
    targetOffset = 0;
    connection = null;
    broken = false;
    failure = null;
    skipEmptyRanges();
  }

  /**
   * Uses up the one retry.
   *
   * @return false when it was used already
   */
  boolean retry() {
    boolean first = !retried;
    retried = true;
    return first;
  }

  /** The listener is about to be told. */
  void answered() {
    answered = true;
    releaseTarget();
  }

  /**
   * Keeps the target for good: its queue pair was not flushed, a READ may still write to it.
   *
   * @return false when that was known already
   */
  boolean giveUpTarget() {
    boolean first = !releasedTarget;
    releasedTarget = true;
    return first;
  }

  private void releaseTarget() {
    if (answered && outstanding == 0 && !releasedTarget) {
      releasedTarget = true;
      request.target().release();
    }
  }

  private void skipEmptyRanges() {
    while (hasMore() && rangeOffset == request.ranges().get(range).length()) {
      range++;
      rangeOffset = 0;
    }
  }
}
