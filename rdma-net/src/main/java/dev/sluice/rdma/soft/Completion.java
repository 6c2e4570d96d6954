package dev.sluice.rdma.soft;

import dev.sluice.rdma.Opcode;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;

/**
 * A work completion in a completion queue.
 *
 * @param owner queue pair whose work request completed
 * @param retiredSends places in the send queue that are free again once this has been polled: its
 *     own and those of the unsignaled work requests before it; 0 for a receive
 */
record Completion(
    long wrId,
    WorkCompletionStatus status,
    Opcode opcode,
    int byteLength,
    int immediate,
    boolean solicited,
    SoftQueuePair owner,
    int retiredSends) {

  static Completion ofSend(
      SoftQueuePair owner,
      long wrId,
      WorkCompletionStatus status,
      Opcode opcode,
      int byteLength,
      int retired) {
    return new Completion(wrId, status, opcode, byteLength, 0, false, owner, retired);
  }

  static Completion ofReceive(
      SoftQueuePair owner, long wrId, WorkCompletionStatus status, Opcode opcode, int byteLength) {
    return new Completion(wrId, status, opcode, byteLength, 0, false, owner, 0);
  }

  void moveTo(WorkCompletions into) {
    into.add(wrId, status, opcode, byteLength, immediate, owner.qpNumber(), 0);
    owner.polled(this);
  }

  boolean isReceive() {
    return retiredSends == 0;
  }
}
