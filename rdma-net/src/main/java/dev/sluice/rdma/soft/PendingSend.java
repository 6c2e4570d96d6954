package dev.sluice.rdma.soft;

import dev.sluice.rdma.Opcode;
import dev.sluice.rdma.SendFlag;
import dev.sluice.rdma.SendWorkRequest;

/** A work request in a send queue and how far it is. Guarded by the queue pair's lock. */
final class PendingSend {
  final SendWorkRequest request;

  /** Copy of the data, of an inline request; else null. */
  final byte[] inline;

  /** Bytes that it moves. */
  final int length;

  /** Bytes of a SEND or WRITE that have gone to the socket. */
  int sent;

  /** Bytes of a READ or an atomic that have arrived. */
  int received;

  /** Sent again after the receiver was not ready. */
  boolean resync;

  PendingSend(SendWorkRequest request, byte[] inline, int length) {
    this.request = request;
    this.inline = inline;
    this.length = length;
  }

  Opcode opcode() {
    return request.opcode();
  }

  boolean isSignaled() {
    return has(SendFlag.SIGNALED);
  }

  boolean has(SendFlag flag) {
    return request.flags().contains(flag);
  }

  /** READ or atomic: answered with data, and limited by max_rd_atomic. */
  boolean isFetch() {
    return isAtomic() || opcode() == Opcode.RDMA_READ;
  }

  boolean isAtomic() {
    return opcode() == Opcode.ATOMIC_CMP_AND_SWP || opcode() == Opcode.ATOMIC_FETCH_AND_ADD;
  }

  boolean hasImmediate() {
    return opcode() == Opcode.SEND_WITH_IMM || opcode() == Opcode.RDMA_WRITE_WITH_IMM;
  }

  FrameType frameType() {
    return switch (opcode()) {
      case RDMA_READ -> FrameType.READ;
      case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> FrameType.WRITE;
      case SEND, SEND_WITH_IMM -> FrameType.SEND;
      case ATOMIC_CMP_AND_SWP -> FrameType.COMPARE_SWAP;
      case ATOMIC_FETCH_AND_ADD -> FrameType.FETCH_ADD;
      case RECV, RECV_RDMA_WITH_IMM ->
          throw new IllegalArgumentException(opcode() + " is no request");
    };
  }
}
