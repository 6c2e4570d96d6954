// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.WorkCompletionStatus;
import java.net.ProtocolException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The requesting half of a queue pair: its send queue. Requests leave in order and the peer answers
 * in order, so they complete in order.
 *
 * <p>All calls hold the queue pair's lock, whatever their thread. {@link SoftQueuePair}, which has
 * it, posts on posting threads, runs the timer on the event loop's, and flushes or resets on any.
 * {@link SoftConnection} brings answers on the event loop's thread; it asks for {@link #nextFrame}
 * there and on posting threads. Nothing to close: after {@link #flush} or {@link #reset} it is
 * empty.
 */
final class Initiator {
  private final SoftQueuePair queuePair;
  private final ArrayDeque<PendingSend> unsent = new ArrayDeque<>();
  private final ArrayDeque<PendingSend> inFlight = new ArrayDeque<>();
  private int maxInFlight;

  /** Limit of the time without an answer; 0 for no limit, as before the attributes are known. */
  private long timeoutNanos;

  private long lastProgressNanos;

  Initiator(SoftQueuePair queuePair) {
    this.queuePair = queuePair;
  }

  /** Sets the attributes of the connection. */
  void connect(ConnectionAttributes attributes, int peerMaxDestRdAtomic) {
    maxInFlight = Math.min(attributes.maxRdAtomic(), peerMaxDestRdAtomic);
    timeoutNanos = attributes.retryTimeoutNanos();
  }

  private boolean isIdle() {
    return unsent.isEmpty() && inFlight.isEmpty();
  }

  void post(PendingSend send, long now) {
    if (isIdle()) {
      lastProgressNanos = now;
    }
    unsent.add(send);
  }

  /**
   * Appends the next request of the send queue.
   *
   * @return false if there is none, or none may be sent now
   */
  boolean nextFrame(FrameBatch batch, long now) {
    PendingSend send = unsent.peek();
    if (send == null || !mayStart(send)) {
      return false;
    }
    inFlight.add(unsent.remove());
    lastProgressNanos = now;
    FrameHeader.encodeRead(
        batch.header(), send.length(), send.request.remoteAddress(), send.request.rkey());
    return true;
  }

  private boolean mayStart(PendingSend send) {
    if (inFlight.size() >= maxInFlight) {
      if (maxInFlight == 0) {
        fail(send, WorkCompletionStatus.LOC_QP_OP_ERR);
      }
      return false;
    }
    if (send.length() == 0 || target(send) != null) {
      return true;
    }
    if (inFlight.isEmpty()) {
      fail(send, WorkCompletionStatus.LOC_PROT_ERR);
    }
    return false;
  }

  /** The region that receives the bytes; null if READs must not write there. */
  private @Nullable SoftMemoryRegion target(PendingSend send) {
    return queuePair.domain().writable(send.request.local());
  }

  /** Takes the header of a piece of an answer. Sets the memory for its payload. */
  void begin(FrameHeader header, Payload payload, long now) throws ProtocolException {
    PendingSend head = answered(now);
    if (header.length > head.length() - head.received) {
      throw new ProtocolException("the peer sent more data than the READ asked for");
    }
    if (header.length == 0) {
      return;
    }
    SoftMemoryRegion target = target(head);
    if (target == null) {
      fail(head, WorkCompletionStatus.LOC_PROT_ERR);
    } else {
      payload.start(target, head.request.localAddress() + head.received, header.length);
    }
  }

  /** Notes that the payload of a piece is complete. */
  void end(FrameHeader header) {
    PendingSend head = inFlight.element();
    head.received += header.length;
    if (head.received == head.length()) {
      queuePair.completeSend(inFlight.remove(), WorkCompletionStatus.SUCCESS);
    }
  }

  /** Fails the oldest request, as the peer refuses it. */
  void refused(FrameHeader header, long now) throws ProtocolException {
    PendingSend head = answered(now);
    WorkCompletionStatus status = WorkCompletionStatus.of(header.code);
    if (!Answer.REFUSALS.contains(status)) {
      throw new ProtocolException("the peer refused a READ with " + status);
    }
    fail(head, status);
  }

  private PendingSend answered(long now) throws ProtocolException {
    if (inFlight.isEmpty()) {
      throw new ProtocolException("the peer answered without a request");
    }
    lastProgressNanos = now;
    return inFlight.element();
  }

  /** Fails the oldest request, as the memory for its answer is deregistered. */
  void memoryGone() {
    fail(inFlight.element(), WorkCompletionStatus.LOC_PROT_ERR);
  }

  /**
   * Fails the outstanding requests, as the connection is lost. An idle queue pair does not notice.
   */
  void connectionLost() {
    if (!isIdle()) {
      fail(oldest(), WorkCompletionStatus.RETRY_EXC_ERR);
    }
  }

  private PendingSend oldest() {
    return inFlight.isEmpty() ? unsent.element() : inFlight.element();
  }

  /** Time at which the timer is due; {@link EventLoop#NEVER} without a request. */
  long deadline() {
    return isIdle() || timeoutNanos == 0 ? EventLoop.NEVER : lastProgressNanos + timeoutNanos;
  }

  /** Fails the queue pair if the peer has not answered in time. */
  void expire(long now) {
    if (!isIdle() && timeoutNanos != 0 && now - lastProgressNanos >= timeoutNanos) {
      fail(oldest(), WorkCompletionStatus.RETRY_EXC_ERR);
    }
  }

  private void fail(PendingSend failed, WorkCompletionStatus status) {
    List<PendingSend> all = takeAll();
    queuePair.failing();
    for (PendingSend send : all) {
      queuePair.completeSend(send, send == failed ? status : WorkCompletionStatus.WR_FLUSH_ERR);
    }
  }

  /** Completes all requests with WR_FLUSH_ERR. */
  void flush() {
    for (PendingSend send : takeAll()) {
      queuePair.completeSend(send, WorkCompletionStatus.WR_FLUSH_ERR);
    }
  }

  /** Drops all requests without completions. */
  void reset() {
    takeAll();
  }

  private List<PendingSend> takeAll() {
    List<PendingSend> all = new ArrayList<>(inFlight);
    all.addAll(unsent);
    inFlight.clear();
    unsent.clear();
    return all;
  }

  /**
   * A work request in a send queue, with its progress. {@link SoftQueuePair} makes it on the
   * posting thread, the {@link Initiator} keeps it until it completes. Guarded by the queue pair's
   * lock.
   */
  static final class PendingSend {
    final SendWorkRequest request;

    /** Bytes that have arrived. */
    int received;

    PendingSend(SendWorkRequest request) {
      this.request = request.copy();
    }

    /** Bytes that the request asks for. */
    int length() {
      return request.length();
    }
  }
}
