// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.soft.FaultPlan.Fault;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The answering half of a queue pair. It serves the peer's READs in order, and checks them as a NIC
 * does.
 *
 * <p>All calls hold the queue pair's lock. {@link SoftConnection} brings requests and sends answers
 * on the event loop's thread. {@link SoftQueuePair}, which has it, runs the timer and brings bytes
 * from a disk there. {@link Link} drops the answers of a lost connection on any thread. Buffers of
 * dropped answers go back to the pool; nothing else is to be closed.
 */
final class Responder {
  private static final Logger LOG = LoggerFactory.getLogger(Responder.class);

  private static final String SILENT_DISK = "its disk does not answer";

  private final SoftQueuePair queuePair;
  private final ArrayDeque<Answer> answers = new ArrayDeque<>();
  private int maxReads;

  /** True after a refusal: later requests are dropped. */
  private boolean failed;

  Responder(SoftQueuePair queuePair) {
    this.queuePair = queuePair;
  }

  void connect(int maxDestRdAtomic) {
    maxReads = maxDestRdAtomic;
  }

  /** Takes a request. */
  void serve(FrameHeader request, long now) {
    if (failed) {
      return;
    }
    Fault fault = queuePair.device().nextFault(request.length);
    switch (fault.kind()) {
      case KILL -> queuePair.connectionLost("a fault was injected");
      case STATUS -> refuse(requireNonNull(fault.status()));
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

  /** Returns the region that the request may READ; null if it may not. */
  private @Nullable SoftRegion find(FrameHeader request) {
    SoftRegion region = queuePair.domain().regionByRkey(request.rkey);
    return region != null
            && region.contains(request.address, request.length)
            && region.allows(AccessFlag.REMOTE_READ)
        ? region
        : null;
  }

  /** Refuses a request, and serves no later one. */
  private void refuse(WorkCompletionStatus status) {
    answers.add(Answer.refusal(status));
    failed = true;
  }

  /**
   * Appends the next frame of an answer.
   *
   * @return false if there is none, or none may be sent now
   */
  boolean nextFrame(FrameBatch batch, long now) {
    Answer answer = answers.peek();
    if (answer == null || answer.reading || now < answer.dueNanos) {
      return false;
    }
    if (answer.refusal == null) {
      return nextData(answer, batch, now);
    }
    FrameHeader.encodeNak(batch.header(), answer.refusal.ordinal());
    clear();
    queuePair.refused();
    return true;
  }

  /**
   * @return false if the answer waits for a disk, and no frame was appended
   */
  private boolean nextData(Answer answer, FrameBatch batch, long now) {
    if (answer.region != null && !answer.region.isOpen()) {
      refuseAll(WorkCompletionStatus.REM_ACCESS_ERR);
      return true;
    }
    if (answer.failure != null) {
      unreadable(answer, answer.failure);
      return true;
    }
    int bytes = answer.nextBytes();
    ByteBuffer header = batch.header();
    int start = header.position();
    FrameHeader.encodeData(header, bytes);
    int added;
    try {
      added = addData(answer, bytes, batch);
    } catch (IOException e) {
      header.position(start);
      unreadable(answer, e);
      return true;
    }
    if (added == 0 && bytes > 0) {
      header.position(start);
      return !readFromDisk(answer, bytes, now);
    }
    if (added < bytes) {
      FrameHeader.encodeData(header.duplicate().position(start), added);
    }
    answer.sent += added;
    if (answer.sent == answer.length) {
      answers.remove();
    }
    return true;
  }

  /**
   * @return number of bytes added; 0 if they have to be read from a disk first
   */
  private static int addData(Answer answer, int bytes, FrameBatch batch) throws IOException {
    long from = answer.address + answer.sent;
    if (bytes == 0) {
      return 0;
    }
    SoftRegion region = requireNonNull(answer.region);
    if (answer.chunk == null && !answer.corrupt) {
      int added = region.send(from, bytes, batch);
      if (added > 0) {
        answer.hit();
      }
      return added;
    }
    if (answer.chunk == null) {
      batch.add(corrupted(region.copy(from, bytes)), null);
    } else {
      batch.addChunk(answer.corrupt ? corrupted(answer.chunk) : answer.chunk);
      answer.chunk = null;
    }
    answer.corrupt = false;
    return bytes;
  }

  /**
   * Starts reading the next bytes, unless their disk hangs. The other answers of the queue pair
   * wait, as they are sent in order. Its own requests do not wait.
   *
   * @return false if the request is refused instead
   */
  private boolean readFromDisk(Answer answer, int bytes, long now) {
    SoftFileRegion region = (SoftFileRegion) requireNonNull(answer.region);
    long nanosLeft = nanosLeft(region);
    if (nanosLeft <= 0) {
      unreadable(answer, SILENT_DISK);
      return false;
    }
    answer.missed();
    answer.dueNanos = now + nanosLeft;
    queuePair.readFromDisk(
        region,
        answer.address + answer.sent,
        bytes,
        (chunk, failure) -> {
          answer.reading = false;
          answer.dueNanos = 0;
          answer.chunk = chunk;
          answer.failure = failure;
          if (answer.dropped) {
            giveBack(answer);
          }
        });
    return true;
  }

  /** Refuses the oldest request if it waits for a disk that hangs. */
  void expire(long now) {
    Answer answer = answers.peek();
    if (answer == null || !answer.reading || now < answer.dueNanos) {
      return;
    }
    long nanosLeft = nanosLeft((SoftFileRegion) requireNonNull(answer.region));
    if (nanosLeft > 0) {
      answer.dueNanos = now + nanosLeft; // the disk has finished other reads
    } else {
      unreadable(answer, SILENT_DISK);
    }
  }

  private long nanosLeft(SoftFileRegion region) {
    return queuePair.device().diskReaders().nanosLeft(region.disk());
  }

  private void giveBack(Answer answer) {
    if (answer.chunk != null) {
      queuePair.loop().frameBuffers().giveBack(answer.chunk);
      answer.chunk = null;
    }
  }

  /**
   * Refuses the request, as its bytes are not available now. REM_ACCESS_ERR makes the peer forget
   * only this location. The peer would count any other failure against this process and all its
   * disks.
   */
  private void unreadable(Answer answer, Object reason) {
    LOG.debug("{}: {} cannot be read: {}", queuePair, answer.region, reason);
    refuseAll(WorkCompletionStatus.REM_ACCESS_ERR);
  }

  private static ByteBuffer corrupted(ByteBuffer data) {
    int middle = data.limit() / 2;
    return data.put(middle, (byte) ~data.get(middle));
  }

  /** Refuses the oldest request, and all behind it. */
  private void refuseAll(WorkCompletionStatus status) {
    clear();
    refuse(status);
  }

  /** Drops all answers, and gives back their buffers. */
  private void clear() {
    for (Answer answer : answers) {
      answer.dropped = true;
      giveBack(answer);
    }
    answers.clear();
  }

  boolean isIdle() {
    return answers.isEmpty();
  }

  /** Time at which a delayed answer is due, or the deadline of the disk that it waits for. */
  long deadline() {
    Answer answer = answers.peek();
    return answer == null || answer.dueNanos == 0 ? EventLoop.NEVER : answer.dueNanos;
  }

  /** Drops all answers, as they cannot be sent any more. */
  void connectionLost() {
    clear();
  }

  /** Returns to the initial state. */
  void reset() {
    connectionLost();
    failed = false;
  }
}
