// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvCq;
import dev.sluice.verbs.ibv.IbvCqEx;
import dev.sluice.verbs.ibv.IbvWcArray;

/**
 * Completions of an extended completion queue, read member by member into arrays. Only {@link
 * CompletionWait} uses it, on one thread. A poll overwrites the previous completions and allocates
 * nothing.
 */
final class ExtendedCompletions {
  private final IbvCqEx cq;
  private final long[] wrIds;
  private final int[] qpNums;
  private final IbvWcArray.Status[] statuses;

  /**
   * @param cq queue that was created with {@link IbvCqEx.WcFlags#QP_NUM}
   * @param batch maximum number of completions per poll
   */
  ExtendedCompletions(IbvCqEx cq, int batch) {
    this.cq = cq;
    wrIds = new long[batch];
    qpNums = new int[batch];
    statuses = new IbvWcArray.Status[batch];
  }

  IbvCq cq() {
    return cq.cq();
  }

  /**
   * Takes each completion in a batch of its own. In rdma-core 44, if ibv_next_poll finds nothing,
   * the end of the batch drops one completion of soft-RoCE.
   *
   * @return number of completions
   */
  int poll() throws VerbsException {
    int count = 0;
    while (count < wrIds.length && cq.startPoll()) {
      wrIds[count] = cq.wrId();
      qpNums[count] = cq.readQpNum();
      statuses[count] = cq.status();
      count++;
      cq.endPoll();
    }
    return count;
  }

  long wrId(int index) {
    return wrIds[index];
  }

  int qpNum(int index) {
    return qpNums[index];
  }

  IbvWcArray.Status status(int index) {
    return statuses[index];
  }
}
