package dev.sluice.rdma.verbs.ibv;

/**
 * A work completion that a test took, copied out of its array.
 *
 * @param opcode null unless the status is SUCCESS, for which alone verbs define it
 */
record Completion(
    long wrId,
    IbvWcStatus status,
    IbvWcOpcode opcode,
    int bytes,
    int flags,
    int immediate,
    int invalidatedRkey,
    int qpNum,
    int srcQp) {

  static Completion of(IbvWcArray completions, int index) {
    IbvWcStatus status = completions.status(index);
    return new Completion(
        completions.wrId(index),
        status,
        status == IbvWcStatus.SUCCESS ? completions.opcode(index) : null,
        completions.byteLength(index),
        completions.flags(index),
        completions.immediate(index),
        completions.invalidatedRkey(index),
        completions.qpNum(index),
        completions.srcQp(index));
  }

  boolean has(int flag) {
    return (flags & flag) != 0;
  }
}
