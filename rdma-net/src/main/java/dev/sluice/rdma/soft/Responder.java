package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.Opcode;
import dev.sluice.rdma.ReceiveWorkRequest;
import dev.sluice.rdma.WorkCompletionStatus;
import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The answering half of a queue pair: serves the peer's requests in order, checks them as a NIC
 * does, and takes receives from the receive queue. Everything is called with the queue pair's lock
 * held.
 */
final class Responder {
  private static final Logger LOG = LoggerFactory.getLogger(Responder.class);

  private final SoftQueuePair queuePair;
  private final ArrayDeque<ReceiveWorkRequest> receives = new ArrayDeque<>();
  private final ArrayDeque<Answer> answers = new ArrayDeque<>();
  private int maxFetches;
  private int fetches;
  private int minRnrTimer;

  /** Takes the SEND that is arriving; null between messages. */
  private ReceiveWorkRequest receive;

  private int received;
  private Fault fault = Fault.NONE;

  /** What arrives is thrown away: until the peer starts again, and for ever after a NAK. */
  private boolean deaf;

  private boolean failed;

  /** The frame that is arriving is served. */
  private boolean serving;

  Responder(SoftQueuePair queuePair) {
    this.queuePair = queuePair;
  }

  void connect(int maxDestRdAtomic, int rnrTimerCode) {
    maxFetches = maxDestRdAtomic;
    minRnrTimer = rnrTimerCode;
  }

  void post(ReceiveWorkRequest request) {
    receives.add(request);
  }

  /** A request's header has come; says where its payload goes. */
  void begin(FrameHeader header, Payload payload, long now) throws ProtocolException {
    if (deaf && header.has(FrameHeader.RESYNC)) {
      listenAgain();
    }
    serving = !deaf && (!header.has(FrameHeader.FIRST) || decideFault(header));
    if (!serving) {
      return;
    }
    received = header.has(FrameHeader.FIRST) ? 0 : received;
    switch (header.type) {
      case READ -> read(header, now);
      case WRITE -> write(header, payload);
      case SEND -> send(header, payload);
      case COMPARE_SWAP, FETCH_ADD -> atomic(header, now);
      default -> throw new ProtocolException("an answer as a request");
    }
    if (!serving) {
      payload.discard();
    }
  }

  private void listenAgain() throws ProtocolException {
    Answer last = answers.peekLast();
    if (last != null && last.type == FrameType.RNR_NAK) {
      // Else answers would pile up behind a peer that does not receive them.
      throw new ProtocolException("sent again before it was told to");
    }
    deaf = failed;
  }

  private boolean decideFault(FrameHeader header) {
    boolean read = header.type == FrameType.READ;
    fault = queuePair.device().nextFault(read ? header.length : header.operand);
    switch (fault.kind()) {
      case KILL -> queuePair.connectionLost("a fault was injected");
      case STATUS -> nak(fault.status());
      default -> {
        return true;
      }
    }
    return false;
  }

  private void read(FrameHeader header, long now) {
    if (!queuePair.allows(AccessFlag.REMOTE_READ) || fetches == maxFetches) {
      nak(WorkCompletionStatus.REM_INV_REQ_ERR);
      return;
    }
    SoftRegion region = null;
    if (header.length > 0) {
      region = find(header.address, header.length, header.rkey, AccessFlag.REMOTE_READ);
      if (region == null) {
        nak(WorkCompletionStatus.REM_ACCESS_ERR);
        return;
      }
    }
    Answer answer = Answer.read(header, region);
    answer.corrupt = fault.kind() == Fault.Kind.CORRUPT;
    fetches++;
    answer(answer, now);
  }

  private void atomic(FrameHeader header, long now) {
    if (!queuePair.allows(AccessFlag.REMOTE_ATOMIC)
        || fetches == maxFetches
        || header.address % Long.BYTES != 0) {
      nak(WorkCompletionStatus.REM_INV_REQ_ERR);
      return;
    }
    if (!(find(header.address, Long.BYTES, header.rkey, AccessFlag.REMOTE_ATOMIC)
        instanceof SoftMemoryRegion region)) {
      nak(WorkCompletionStatus.REM_ACCESS_ERR);
      return;
    }
    long original =
        header.type == FrameType.COMPARE_SWAP
            ? region.compareAndSwap(header.address, header.operand, header.swap)
            : region.fetchAndAdd(header.address, header.operand);
    ByteBuffer value = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
    fetches++;
    answer(Answer.atomic(value.putLong(original).array()), now);
  }

  private void write(FrameHeader header, Payload payload) {
    if (!queuePair.allows(AccessFlag.REMOTE_WRITE)) {
      nak(WorkCompletionStatus.REM_INV_REQ_ERR);
    } else if (header.has(FrameHeader.FIRST)
        && header.has(FrameHeader.IMMEDIATE)
        && receives.isEmpty()) {
      receiverNotReady();
    } else if (header.length > 0) {
      if (find(header.address, header.length, header.rkey, AccessFlag.REMOTE_WRITE)
          instanceof SoftMemoryRegion region) {
        payload.add(region.slice(header.address, header.length), region);
      } else {
        nak(WorkCompletionStatus.REM_ACCESS_ERR);
      }
    }
  }

  private void send(FrameHeader header, Payload payload) throws ProtocolException {
    if (header.has(FrameHeader.FIRST)) {
      if (receives.isEmpty()) {
        receiverNotReady();
        return;
      }
      receive = receives.remove();
    } else if (receive == null) {
      throw new ProtocolException("a message without a beginning");
    }
    long capacity = LocalMemory.length(receive.scatterGather());
    if (header.operand > capacity || header.length > capacity - received) {
      failReceive(WorkCompletionStatus.LOC_LEN_ERR, WorkCompletionStatus.REM_INV_REQ_ERR);
    } else if (!LocalMemory.slices(
        queuePair.domain(), receive.scatterGather(), received, header.length, true, payload)) {
      failReceive(WorkCompletionStatus.LOC_PROT_ERR, WorkCompletionStatus.REM_OP_ERR);
    }
  }

  private SoftRegion find(long address, int length, int rkey, AccessFlag needed) {
    SoftRegion region = queuePair.domain().regionByRkey(rkey);
    return region != null && region.contains(address, length) && region.allows(needed)
        ? region
        : null;
  }

  /** A request's payload is complete. */
  void end(FrameHeader header, long now) {
    if (!serving || !header.type.hasPayload()) {
      return;
    }
    received += header.length;
    if (header.has(FrameHeader.LAST)) {
      if (header.type == FrameType.WRITE && header.has(FrameHeader.IMMEDIATE)) {
        receive = receives.remove();
      }
      if (receive != null) {
        completeReceive(header, received);
      }
      acknowledge(now);
    }
  }

  private void completeReceive(FrameHeader header, int bytes) {
    boolean write = header.type == FrameType.WRITE;
    queuePair.completeReceive(
        new Completion(
            receive.wrId(),
            WorkCompletionStatus.SUCCESS,
            write ? Opcode.RECV_RDMA_WITH_IMM : Opcode.RECV,
            bytes,
            header.immediate,
            header.has(FrameHeader.SOLICITED),
            queuePair,
            0));
    receive = null;
  }

  private void acknowledge(long now) {
    Answer last = answers.peekLast();
    boolean merge = last != null && last.type == FrameType.ACK && last.dueNanos == 0;
    if (merge && fault.kind() != Fault.Kind.DELAY) {
      last.length++;
    } else {
      answer(Answer.ack(), now);
    }
  }

  private void answer(Answer answer, long now) {
    if (fault.kind() == Fault.Kind.DELAY) {
      answer.dueNanos = now + TimeUnit.MILLISECONDS.toNanos(fault.delayMs());
    }
    answers.add(answer);
  }

  /** Refuses the present request and serves no other. */
  private void nak(WorkCompletionStatus status) {
    answers.add(Answer.nak(status));
    failed = true;
    deaf = true;
    serving = false;
  }

  private void receiverNotReady() {
    answers.add(Answer.receiverNotReady(minRnrTimer));
    deaf = true;
    serving = false;
  }

  private void failReceive(WorkCompletionStatus local, WorkCompletionStatus remote) {
    ReceiveWorkRequest bad = receive;
    receive = null;
    nak(remote);
    queuePair.completeReceive(Completion.ofReceive(queuePair, bad.wrId(), local, Opcode.RECV, 0));
  }

  /** The memory that a request's payload goes to is deregistered; the payload is discarded. */
  void memoryGone() {
    if (receive != null) {
      failReceive(WorkCompletionStatus.LOC_PROT_ERR, WorkCompletionStatus.REM_OP_ERR);
    } else {
      nak(WorkCompletionStatus.REM_ACCESS_ERR);
    }
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
    if (answer.type == FrameType.READ_RESPONSE) {
      nextData(answer, batch);
      return true;
    }
    answers.remove();
    FrameHeader.encodeAnswer(batch.header(), answer.type, 0, answer.code, answer.length);
    if (answer.type == FrameType.NAK) {
      answers.clear();
      queuePair.refused();
    }
    return true;
  }

  private void nextData(Answer answer, FrameBatch batch) {
    if (answer.region != null && !answer.region.isOpen()) {
      refuseAll(WorkCompletionStatus.REM_ACCESS_ERR);
      return;
    }
    int bytes = Math.min(FrameHeader.MAX_PAYLOAD_BYTES, answer.length - answer.sent);
    boolean last = answer.sent + bytes == answer.length;
    ByteBuffer header = batch.header();
    int start = header.position();
    FrameHeader.encodeAnswer(
        header, FrameType.READ_RESPONSE, last ? FrameHeader.LAST : 0, 0, bytes);
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
    if (last) {
      answers.remove();
      fetches--;
    }
  }

  private static void addData(Answer answer, int bytes, FrameBatch batch) throws IOException {
    long from = answer.address + answer.sent;
    if (answer.value != null) {
      batch.add(ByteBuffer.wrap(answer.value), null);
    } else if (bytes > 0 && answer.corrupt) {
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
    nak(status);
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
    fetches = 0;
    serving = false;
  }

  /** Completes all receives with WR_FLUSH_ERR. */
  void flush() {
    if (receive != null) {
      flush(receive);
      receive = null;
    }
    for (ReceiveWorkRequest next = receives.poll(); next != null; next = receives.poll()) {
      flush(next);
    }
  }

  private void flush(ReceiveWorkRequest request) {
    queuePair.completeReceive(
        Completion.ofReceive(
            queuePair, request.wrId(), WorkCompletionStatus.WR_FLUSH_ERR, Opcode.RECV, 0));
  }

  /** Forgets everything without completions. */
  void reset() {
    connectionLost();
    receives.clear();
    receive = null;
    deaf = false;
    failed = false;
  }
}
