// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.ibv.IbvSendWrList;

/** Operations that bw and lat measure. Their order is on the wire ({@link PerfParameters}). */
enum PerfOperation {
  READ(IbvSendWrList.Opcode.RDMA_READ),
  WRITE(IbvSendWrList.Opcode.RDMA_WRITE),
  SEND(IbvSendWrList.Opcode.SEND),
  FETCH_ADD(IbvSendWrList.Opcode.ATOMIC_FETCH_AND_ADD),
  CMP_SWAP(IbvSendWrList.Opcode.ATOMIC_CMP_AND_SWP);

  /** Bytes of an atomic's operand. */
  static final int ATOMIC_BYTES = Long.BYTES;

  private final IbvSendWrList.Opcode opcode;

  PerfOperation(IbvSendWrList.Opcode opcode) {
    this.opcode = opcode;
  }

  IbvSendWrList.Opcode opcode() {
    return opcode;
  }

  boolean isAtomic() {
    return this == FETCH_ADD || this == CMP_SWAP;
  }

  /** True if data come from the server, which takes no part in the operation. */
  boolean fetches() {
    return this == READ || isAtomic();
  }
}
