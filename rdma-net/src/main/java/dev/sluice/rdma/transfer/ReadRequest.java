// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.WorkCompletionStatus;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Ranges of one peer's memory to READ back to back into a buffer. Any thread creates it, and
 * submits it by {@link RdmaEndpoint#read}. The engine keeps its state of the read in this object,
 * so that a READ allocates no other one: the next byte to post, and the outcome of the current
 * attempt. Only the engine's thread uses this state, from submission to answer. After a success the
 * request may be submitted again.
 *
 * <p>The target is released only when the request is answered and none of its work requests is
 * outstanding. Memory is therefore never reused while a READ may still write to it.
 */
public final class ReadRequest extends TaskQueue.Task {
  private final PeerAddress peer;
  private final List<RemoteRegion> ranges;
  private final PooledBuffer target;
  private final int offset;
  private final long deadlineNanos;
  private final ReadListener listener;
  private final long bytes;

  /** Null before the request is submitted, and after a success. */
  private @Nullable ReadEngine engine;

  private @Nullable Peer source;

  // Next byte to post.
  private int range;
  private long rangeOffset;
  private long targetOffset;

  private @Nullable Connection connection;
  private long postedNanos;
  private int outstanding;
  private boolean broken;
  private @Nullable WorkCompletionStatus failure;
  private boolean retried;
  private boolean answered;
  private boolean releasedTarget;

  /** Neighbours in {@link PendingReads}. */
  @Nullable ReadRequest before;

  @Nullable ReadRequest after;

  /**
   * @param peer the peer
   * @param ranges ranges to READ, in the order of the target's bytes
   * @param target takes the bytes; the engine retains it until no READ can write to it any more,
   *     even if the listener releases its own reference
   * @param offset offset of the first byte in the target
   * @param deadlineNanos {@link System#nanoTime} by which the listener is answered
   * @param listener gets exactly one answer
   * @throws IllegalArgumentException for ranges that do not fit into the target
   */
  public ReadRequest(
      PeerAddress peer,
      List<RemoteRegion> ranges,
      PooledBuffer target,
      int offset,
      long deadlineNanos,
      ReadListener listener) {
    this.peer = peer;
    this.ranges = List.copyOf(ranges);
    this.target = target;
    this.offset = Objects.checkIndex(offset, target.bytes());
    this.deadlineNanos = deadlineNanos;
    this.listener = listener;
    bytes = bytesThatFit();
  }

  private long bytesThatFit() {
    long sum = 0;
    for (RemoteRegion from : ranges) {
      if (from.length() < 0 || from.length() > target.bytes() - offset - sum) {
        throw new IllegalArgumentException(
            "%s of %s do not fit into %d bytes of a buffer"
                .formatted(ranges, peer, target.bytes() - offset));
      }
      sum += from.length();
    }
    return sum;
  }

  PeerAddress peer() {
    return peer;
  }

  List<RemoteRegion> ranges() {
    return ranges;
  }

  PooledBuffer target() {
    return target;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  ReadListener listener() {
    return listener;
  }

  /** Bytes of all ranges. */
  long bytes() {
    return bytes;
  }

  /**
   * Takes a reference to the target for the engine.
   *
   * @throws IllegalStateException if it was submitted before and has not succeeded since
   */
  void submittedTo(ReadEngine reader) {
    if (engine != null) {
      throw new IllegalStateException(
          "the READ request is under way or has failed: it cannot be submitted");
    }
    target.retain();
    engine = reader;
  }

  @Override
  void run() {
    requireNonNull(engine).admit(this);
  }

  /** Releases the target. Called if the request was not admitted: nothing else is held then. */
  void declined() {
    target.release();
  }

  /** Begins the read, perhaps not for the first time. */
  void admittedFrom(Peer known) {
    source = known;
    retried = false;
    answered = false;
    releasedTarget = false;
    rewind();
  }

  /** Engine's state of {@link #peer}. */
  Peer source() {
    return requireNonNull(source, "the READ request is not admitted");
  }

  boolean hasMore() {
    return range < ranges.size();
  }

  boolean isStarted() {
    return targetOffset > 0;
  }

  /** Queue pair of the current attempt; null before the attempt. */
  @Nullable Connection connection() {
    return connection;
  }

  /** Time at which the current attempt posted its first work request. */
  long postedNanos() {
    return postedNanos;
  }

  /** Posted work requests that have not been retired. */
  int outstanding() {
    return outstanding;
  }

  /** True if a work request of the current attempt failed or was flushed. */
  boolean isBroken() {
    return broken;
  }

  /** Status of this read's failed work request; null if another read's broke the queue pair. */
  @Nullable WorkCompletionStatus failure() {
    return failure;
  }

  boolean isAnswered() {
    return answered;
  }

  /** Bytes of the next work request. */
  int nextBytes(int maxReadBytes) {
    return (int) Math.min(maxReadBytes, ranges.get(range).length() - rangeOffset);
  }

  /** True if the next work request is the last. */
  boolean isLast(int maxReadBytes) {
    return targetOffset + nextBytes(maxReadBytes) == bytes;
  }

  /** Fills in the next work request, to be posted on {@code on}. */
  void next(
      SendWorkRequest workRequest, Connection on, long wrId, boolean signaled, int maxReadBytes) {
    RemoteRegion from = ranges.get(range);
    int length = nextBytes(maxReadBytes);
    workRequest.set(
        wrId,
        target.segment().address() + offset + targetOffset,
        length,
        target.lkey(),
        from.address() + rangeOffset,
        from.rkey(),
        signaled);
    if (connection == null) {
      connection = on;
      postedNanos = on.postNanos();
    }
    outstanding++;
    targetOffset += length;
    rangeOffset += length;
    skipEmptyRanges();
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

  /** Marks the attempt as broken: the queue pair failed before all was posted. */
  void abandon() {
    broken = true;
  }

  /** Starts again from the first byte. No work request may be outstanding. */
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
   * @return false if it was used before
   */
  boolean retry() {
    boolean first = !retried;
    retried = true;
    return first;
  }

  /** Called before the listener is told of success, since it may submit the request again. */
  void succeeded() {
    engine = null;
  }

  /** Called before the listener is told of any outcome. */
  void answered() {
    answered = true;
    releaseTarget();
  }

  /**
   * Keeps the target for good: its queue pair was not flushed, so a READ may still write to it.
   *
   * @return false if the target was released or given up before
   */
  boolean giveUpTarget() {
    boolean first = !releasedTarget;
    releasedTarget = true;
    return first;
  }

  private void releaseTarget() {
    if (answered && outstanding == 0 && !releasedTarget) {
      releasedTarget = true;
      target.release();
    }
  }

  private void skipEmptyRanges() {
    while (hasMore() && rangeOffset == ranges.get(range).length()) {
      range++;
      rangeOffset = 0;
    }
  }
}
