// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

/**
 * A work completion, copied out of its array.
 *
 * @param opcode null unless the status is SUCCESS: verbs define it for no other status
 */
record Completion(
    long wrId,
    IbvWcArray.Status status,
    IbvWcArray.Opcode opcode,
    int bytes,
    int flags,
    int immediate,
    int invalidatedRkey,
    int qpNum,
    int srcQp) {

  static Completion of(IbvWcArray completions, int index) {
    IbvWcArray.Status status = completions.status(index);
    return new Completion(
        completions.wrId(index),
        status,
        status == IbvWcArray.Status.SUCCESS
            ? completions.opcode(index).known().orElseThrow()
            : null,
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
