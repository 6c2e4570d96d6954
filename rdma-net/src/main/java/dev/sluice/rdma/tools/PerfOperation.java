package dev.sluice.rdma.tools;

import dev.sluice.rdma.verbs.ibv.IbvWrOpcode;

/** What bw and lat measure. */
enum PerfOperation {
  READ(IbvWrOpcode.RDMA_READ),
  WRITE(IbvWrOpcode.RDMA_WRITE),
  SEND(IbvWrOpcode.SEND);

  private final IbvWrOpcode opcode;

  PerfOperation(IbvWrOpcode opcode) {
    this.opcode = opcode;
  }

  IbvWrOpcode opcode() {
    return opcode;
  }
}
