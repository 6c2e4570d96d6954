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

  /** Why the request is refused; null where it is served. */
  final WorkCompletionStatus refusal;

  /** What is READ; null where no bytes are. */
  final SoftRegion region;

  final long address;

  /** Bytes that were asked for. */
  final int length;

  /** Bytes of them that are in frames. */
  int sent;

  /** It must not be sent before; 0 for at once. */
  long dueNanos;

  /** The next data is to be falsified. */
  boolean corrupt;

  private Answer(WorkCompletionStatus refusal, SoftRegion region, long address, int length) {
    this.refusal = refusal;
    this.region = region;
    this.address = address;
    this.length = length;
  }

  static Answer refusal(WorkCompletionStatus status) {
    return new Answer(status, null, 0, 0);
  }

  static Answer data(FrameHeader request, SoftRegion region) {
    return new Answer(null, region, request.address, request.length);
  }
}
