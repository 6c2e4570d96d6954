package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.WorkCompletionStatus;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The answering half of a queue pair: serves the peer's READs in order, and checks them as a NIC
 * does. Everything is called with the queue pair's lock held.
 */
final class Responder {
  private static final Logger LOG = LoggerFactory.getLogger(Responder.class);

  private final SoftQueuePair queuePair;
  private final ArrayDeque<Answer> answers = new ArrayDeque<>();
  private int maxReads;

  /** A request was refused: what comes behind it is thrown away. */
  private boolean failed;

  Responder(SoftQueuePair queuePair) {
    this.queuePair = queuePair;
  }

  void connect(int maxDestRdAtomic) {
    maxReads = maxDestRdAtomic;
  }

  /** A request has come. */
  void serve(FrameHeader request, long now) {
    if (failed) {
      return;
    }
    Fault fault = queuePair.device().nextFault(request.length);
    switch (fault.kind()) {
      case KILL -> queuePair.connectionLost("a fault was injected");
      case STATUS -> refuse(fault.status());
      default -> read(request, fault, now);
    }
  }

  private void read(FrameHeader request, Fault fault, long now) {
    if (!queuePair.allows(AccessFlag.REMOTE_READ) || answers.size() == maxReads) {
      refuse(WorkCompletionStatus.REM_INV_REQ_ERR);
      return;
    }
    SoftRegion region = request.length == 0 ? null : find(request);
    if (region == null && request.length > 0) {
      refuse(WorkCompletionStatus.REM_ACCESS_ERR);
      return;
    }
    Answer answer = Answer.data(request, region);
    answer.corrupt = fault.kind() == Fault.Kind.CORRUPT;
    if (fault.kind() == Fault.Kind.DELAY) {
      answer.dueNanos = now + TimeUnit.MILLISECONDS.toNanos(fault.delayMs());
    }
    answers.add(answer);
  }

  private SoftRegion find(FrameHeader request) {
    SoftRegion region = queuePair.domain().regionByRkey(request.rkey);
    return region != null
            && region.contains(request.address, request.length)
            && region.allows(AccessFlag.REMOTE_READ)
        ? region
        : null;
  }

  /** Refuses a request and serves no other. */
  private void refuse(WorkCompletionStatus status) {
    answers.add(Answer.refusal(status));
    failed = true;
  }

  /**
   * Appends the next frame of an answer.
   *
   * @return false when there is none, or none may be sent now
   */
  boolean nextFrame(FrameBatch batch, long now) {
    Answer answer = answers.peek();
    if (answer == null || now < answer.dueNanos) {
      return false;
    }
    if (answer.refusal == null) {
      nextData(answer, batch);
      return true;
    }
    FrameHeader.encodeNak(batch.header(), answer.refusal.ordinal());
    answers.clear();
    queuePair.refused();
    return true;
  }

  private void nextData(Answer answer, FrameBatch batch) {
    if (answer.region != null && !answer.region.isOpen()) {
      refuseAll(WorkCompletionStatus.REM_ACCESS_ERR);
      return;
    }
    int bytes = Math.min(FrameHeader.MAX_PAYLOAD_BYTES, answer.length - answer.sent);
    ByteBuffer header = batch.header();
    int start = header.position();
    FrameHeader.encodeData(header, bytes);
    try {
      addData(answer, bytes, batch);
    } catch (IOException e) {
      LOG.debug("{}: {} cannot be read", queuePair, answer.region, e);
      header.position(start);
      refuseAll(
          e instanceof EOFException
              ? WorkCompletionStatus.REM_ACCESS_ERR
              : WorkCompletionStatus.REM_OP_ERR);
      return;
    }
    answer.sent += bytes;
    if (answer.sent == answer.length) {
      answers.remove();
    }
  }

  private static void addData(Answer answer, int bytes, FrameBatch batch) throws IOException {
    long from = answer.address + answer.sent;
    if (bytes > 0 && answer.corrupt) {
      batch.add(corrupted(answer.region.copy(from, bytes)), null);
      answer.corrupt = false;
    } else if (bytes > 0) {
      answer.region.send(from, bytes, batch);
    }
  }

  private static ByteBuffer corrupted(ByteBuffer data) {
    int middle = data.limit() / 2;
    return data.put(middle, (byte) ~data.get(middle));
  }

  /** Refuses the oldest request, and all behind it. */
  private void refuseAll(WorkCompletionStatus status) {
    answers.clear();
    refuse(status);
  }

  boolean isIdle() {
    return answers.isEmpty();
  }

  /** When the next answer that is held back is due. */
  long deadline() {
    Answer answer = answers.peek();
    return answer == null || answer.dueNanos == 0 ? EventLoop.NEVER : answer.dueNanos;
  }

  /** Nothing more can be answered. */
  void connectionLost() {
    answers.clear();
  }

  /** Forgets everything. */
  void reset() {
    connectionLost();
    failed = false;
  }
}
