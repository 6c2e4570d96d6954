// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.soft.FrameBatch.FrameBuffers;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An answer that a {@link Responder} still has to send; it makes one for each request. Guarded by
 * the queue pair's lock.
 */
final class Answer {
  /** Statuses that a NAK may carry, as those of a NIC: the request, or serving it, is at fault. */
  static final Set<WorkCompletionStatus> REFUSALS =
      EnumSet.of(
          WorkCompletionStatus.REM_INV_REQ_ERR,
          WorkCompletionStatus.REM_ACCESS_ERR,
          WorkCompletionStatus.REM_OP_ERR);

  /** Reason for refusing the request; null if it is served. */
  final @Nullable WorkCompletionStatus refusal;

  /** Region that is READ; null if no bytes are READ. */
  final @Nullable SoftRegion region;

  final long address;

  /** Bytes that the request asks for. */
  final int length;

  /** Bytes of the answer that are in frames already. */
  int sent;

  /**
   * Limit of the next frame in bytes. Small after a miss: one missing page makes looking at a large
   * frame useless.
   */
  private int maxFrameBytes = FrameHeader.MAX_PAYLOAD_BYTES;

  /**
   * Earliest time to send the answer; 0 for at once. While its bytes are being read from a disk,
   * the deadline of that disk.
   */
  long dueNanos;

  /** True while the next bytes are being read from a disk. */
  boolean reading;

  /** True if the answer will not be sent; a read that is running then gives back its buffer. */
  boolean dropped;

  /** The next bytes, which were read from a disk; null if there are none. */
  @Nullable ByteBuffer chunk;

  /** Reason why the bytes could not be read; null if they could. */
  @Nullable Throwable failure;

  /** True if the next data is to be falsified. */
  boolean corrupt;

  private Answer(
      @Nullable WorkCompletionStatus refusal,
      @Nullable SoftRegion region,
      long address,
      int length) {
    this.refusal = refusal;
    this.region = region;
    this.address = address;
    this.length = length;
  }

  static Answer refusal(WorkCompletionStatus status) {
    return new Answer(status, null, 0, 0);
  }

  static Answer data(FrameHeader request, @Nullable SoftRegion region) {
    return new Answer(null, region, request.address, request.length);
  }

  /** Maximum bytes of the next frame. */
  int nextBytes() {
    return chunk == null ? Math.min(maxFrameBytes, length - sent) : chunk.remaining();
  }

  /** Notes that the page cache lacks the next bytes, which are now being read from a disk. */
  void missed() {
    reading = true;
    maxFrameBytes = FrameBuffers.BYTES;
  }

  /** Notes that the page cache had the bytes. It may have more of the next ones. */
  void hit() {
    maxFrameBytes = Math.min(2 * maxFrameBytes, FrameHeader.MAX_PAYLOAD_BYTES);
  }
}
