package dev.sluice.rdma.soft;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.SendFlag;
import dev.sluice.rdma.WorkCompletionStatus;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The requesting half of a queue pair: its send queue. Requests leave in order, the peer answers in
 * order, and so they complete in order. Everything is called with the queue pair's lock held.
 */
final class Initiator {
  private static final int RETRY_FOR_EVER = 7;

  private final SoftQueuePair queuePair;
  private final ArrayDeque<PendingSend> unsent = new ArrayDeque<>();

  /** Of these the last may have frames left to send. */
  private final ArrayDeque<PendingSend> inFlight = new ArrayDeque<>();

  private ConnectionAttributes attributes;
  private int maxFetches;
  private int fetches;
  private int rnrRetriesLeft;
  private long notBeforeNanos;
  private long lastProgressNanos;

  Initiator(SoftQueuePair queuePair) {
    this.queuePair = queuePair;
  }

  /** The connection's attributes are known. */
  void connect(ConnectionAttributes connection, int peerMaxDestRdAtomic) {
    attributes = connection;
    maxFetches = Math.min(connection.maxRdAtomic(), peerMaxDestRdAtomic);
    rnrRetriesLeft = connection.rnrRetry();
  }

  boolean isIdle() {
    return unsent.isEmpty() && inFlight.isEmpty();
  }

  void post(PendingSend send, long now) {
    if (isIdle()) {
      lastProgressNanos = now;
    }
    unsent.add(send);
  }

  /**
   * Appends the next frame of the send queue.
   *
   * @return false when there is none, or none may be sent now
   */
  boolean nextFrame(FrameBatch batch, long now) {
    PendingSend send = inFlight.peekLast();
    if (send == null || send.isFetch() || send.sent == send.length) {
      send = unsent.peek();
      if (send == null || now < notBeforeNanos || !mayStart(send)) {
        return false;
      }
      unsent.poll();
      inFlight.add(send);
      fetches += send.isFetch() ? 1 : 0;
    }
    lastProgressNanos = now;
    if (send.isFetch()) {
      encode(batch.header(), send, FrameHeader.FIRST | FrameHeader.LAST, send.length);
      return true;
    }
    return nextPiece(send, batch);
  }

  private boolean mayStart(PendingSend send) {
    if (send.isFetch() && fetches >= maxFetches || send.has(SendFlag.FENCE) && fetches > 0) {
      if (maxFetches == 0 && inFlight.isEmpty()) {
        fail(send, WorkCompletionStatus.LOC_QP_OP_ERR);
      }
      return false;
    }
    if (isLocalMemoryAccessible(send)) {
      return true;
    }
    if (inFlight.isEmpty()) {
      fail(send, WorkCompletionStatus.LOC_PROT_ERR);
    }
    return false;
  }

  private boolean isLocalMemoryAccessible(PendingSend send) {
    return send.inline != null
        || LocalMemory.isAccessible(
            queuePair.domain(), send.request.scatterGather(), send.isFetch());
  }

  private boolean nextPiece(PendingSend send, FrameBatch batch) {
    boolean first = send.sent == 0;
    if (!first && !isLocalMemoryAccessible(send)) {
      fail(send, WorkCompletionStatus.LOC_PROT_ERR);
      return false;
    }
    int bytes = Math.min(FrameHeader.MAX_PAYLOAD_BYTES, send.length - send.sent);
    boolean last = send.sent + bytes == send.length;
    int flags = first ? FrameHeader.FIRST : 0;
    flags |= last ? FrameHeader.LAST : 0;
    encode(batch.header(), send, flags, bytes);
    if (send.inline != null && bytes > 0) {
      batch.add(ByteBuffer.wrap(send.inline), null);
    } else {
      LocalMemory.slices(
          queuePair.domain(), send.request.scatterGather(), send.sent, bytes, false, batch);
    }
    send.sent += bytes;
    return true;
  }

  private static void encode(ByteBuffer out, PendingSend send, int pieceFlags, int bytes) {
    int flags = pieceFlags;
    flags |= send.hasImmediate() ? FrameHeader.IMMEDIATE : 0;
    flags |= send.has(SendFlag.SOLICITED) ? FrameHeader.SOLICITED : 0;
    flags |= send.resync ? FrameHeader.RESYNC : 0;
    send.resync = false;
    FrameHeader.encode(
        out,
        send.frameType(),
        flags,
        bytes,
        send.request.remoteAddress() + send.sent,
        send.request.rkey(),
        send.request.immediate(),
        send.isAtomic() ? send.request.compareAdd() : send.length,
        send.request.swap());
  }

  /** An answer's header has come; says where its payload goes. */
  void begin(FrameHeader header, Payload payload, long now) throws ProtocolException {
    PendingSend head = inFlight.peek();
    if (head == null) {
      throw new ProtocolException("an answer without a request");
    }
    lastProgressNanos = now;
    switch (header.type) {
      case READ_RESPONSE -> beginData(head, header, payload);
      case ACK -> acknowledge(header.length);
      case NAK -> refused(head, WorkCompletionStatus.of(header.code));
      case RNR_NAK -> sendLater(head, RnrTimer.nanos(header.code), now);
      default -> throw new ProtocolException("a request as an answer");
    }
  }

  private void refused(PendingSend head, WorkCompletionStatus status) throws ProtocolException {
    if (!Answer.REFUSALS.contains(status)) {
      throw new ProtocolException("refused with " + status);
    }
    fail(head, status);
  }

  private void beginData(PendingSend head, FrameHeader header, Payload payload)
      throws ProtocolException {
    if (!head.isFetch() || header.length > head.length - head.received) {
      throw new ProtocolException("more data than was asked for");
    }
    if (!LocalMemory.slices(
        queuePair.domain(),
        head.request.scatterGather(),
        head.received,
        header.length,
        true,
        payload)) {
      payload.discard();
      fail(head, WorkCompletionStatus.LOC_PROT_ERR);
    }
  }

  /** An answer's payload is complete. */
  void end(FrameHeader header) throws ProtocolException {
    if (header.type != FrameType.READ_RESPONSE) {
      return;
    }
    PendingSend head = inFlight.element();
    head.received += header.length;
    if (header.has(FrameHeader.LAST)) {
      if (head.received != head.length) {
        throw new ProtocolException("less data than was asked for");
      }
      fetches--;
      completeHead();
    }
  }

  private void acknowledge(int messages) throws ProtocolException {
    for (int i = 0; i < messages; i++) {
      PendingSend head = inFlight.peek();
      if (head == null || head.isFetch() || head.sent != head.length) {
        throw new ProtocolException("an acknowledgement without a request");
      }
      completeHead();
    }
  }

  private void completeHead() {
    rnrRetriesLeft = attributes.rnrRetry();
    queuePair.completeSend(inFlight.remove(), WorkCompletionStatus.SUCCESS);
  }

  private void sendLater(PendingSend head, long delayNanos, long now) throws ProtocolException {
    if (head.isFetch()) {
      throw new ProtocolException("receiver not ready for a request that needs no receive");
    }
    if (attributes.rnrRetry() != RETRY_FOR_EVER && rnrRetriesLeft-- == 0) {
      fail(head, WorkCompletionStatus.RNR_RETRY_EXC_ERR);
      return;
    }
    while (!inFlight.isEmpty()) {
      PendingSend send = inFlight.removeLast();
      send.sent = 0;
      unsent.addFirst(send);
    }
    fetches = 0;
    head.resync = true;
    notBeforeNanos = now + delayNanos;
    lastProgressNanos = notBeforeNanos;
  }

  /** The memory that an answer is being received into is deregistered. */
  void memoryGone() {
    fail(inFlight.element(), WorkCompletionStatus.LOC_PROT_ERR);
  }

  /** The connection is lost: an outstanding request fails, an idle queue pair does not notice. */
  void connectionLost() {
    if (!isIdle()) {
      fail(oldest(), WorkCompletionStatus.RETRY_EXC_ERR);
    }
  }

  private PendingSend oldest() {
    return inFlight.isEmpty() ? unsent.element() : inFlight.element();
  }

  /** When the timer is due; {@link EventLoop#NEVER} without a request. */
  long deadline(long now) {
    if (isIdle() || attributes == null) {
      return EventLoop.NEVER;
    }
    long timeoutNanos = attributes.retryTimeoutNanos();
    long retry = timeoutNanos == 0 ? EventLoop.NEVER : lastProgressNanos + timeoutNanos;
    return now < notBeforeNanos ? Math.min(retry, notBeforeNanos) : retry;
  }

  /** Fails the queue pair if the peer has not answered in time. */
  void expire(long now) {
    long timeoutNanos = attributes == null ? 0 : attributes.retryTimeoutNanos();
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
    queuePair.failed();
  }

  /** Completes everything with WR_FLUSH_ERR. */
  void flush() {
    for (PendingSend send : takeAll()) {
      queuePair.completeSend(send, WorkCompletionStatus.WR_FLUSH_ERR);
    }
  }

  /** Forgets everything without completions. */
  void reset() {
    takeAll();
  }

  private List<PendingSend> takeAll() {
    List<PendingSend> all = new ArrayList<>(inFlight);
    all.addAll(unsent);
    inFlight.clear();
    unsent.clear();
    fetches = 0;
    notBeforeNanos = 0;
    return all;
  }
}
