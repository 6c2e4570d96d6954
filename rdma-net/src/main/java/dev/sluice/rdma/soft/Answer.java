package dev.sluice.rdma.soft;

import dev.sluice.rdma.WorkCompletionStatus;
import java.util.EnumSet;
import java.util.Set;

/** What a responder still has to tell its peer. Guarded by the queue pair's lock. */
final class Answer {
  /** What a NAK may say, as those of a NIC: that the request, or serving it, is at fault. */
  static final Set<WorkCompletionStatus> REFUSALS =
      EnumSet.of(
          WorkCompletionStatus.REM_INV_REQ_ERR,
          WorkCompletionStatus.REM_ACCESS_ERR,
          WorkCompletionStatus.REM_OP_ERR);

  final FrameType type;

  /** Status of a NAK, timer of an RNR_NAK. */
  int code;

  /** What a READ asked for bytes of; null where it asked for none. */
  SoftRegion region;

  long address;

  /** Bytes of a READ or an atomic; messages of an ACK. */
  int length;

  /** Bytes of a READ that have gone to the socket. */
  int sent;

  /** Value of an atomic; null for a READ. */
  byte[] value;

  /** It must not be sent before; 0 for at once. */
  long dueNanos;

  /** The next data is to be falsified. */
  boolean corrupt;

  private Answer(FrameType type) {
    this.type = type;
  }

  static Answer ack() {
    Answer answer = new Answer(FrameType.ACK);
    answer.length = 1;
    return answer;
  }

  static Answer nak(WorkCompletionStatus status) {
    Answer answer = new Answer(FrameType.NAK);
    answer.code = status.ordinal();
    return answer;
  }

  static Answer receiverNotReady(int timerCode) {
    Answer answer = new Answer(FrameType.RNR_NAK);
    answer.code = timerCode;
    return answer;
  }

  static Answer read(FrameHeader request, SoftRegion region) {
    Answer answer = new Answer(FrameType.READ_RESPONSE);
    answer.region = region;
    answer.address = request.address;
    answer.length = request.length;
    return answer;
  }

  static Answer atomic(byte[] value) {
    Answer answer = new Answer(FrameType.READ_RESPONSE);
    answer.value = value;
    answer.length = value.length;
    return answer;
  }
}
