// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.verbs.VerbsException;

/**
 * Checks a work request when it is posted, before it takes an entry of the send queue. The {@link
 * SoftQueuePair} calls it under its lock.
 */
final class PostChecks {
  private PostChecks() {}

  /**
   * @param queued occupied entries of the send queue
   */
  static void check(
      SoftQueuePair queuePair, SendWorkRequest request, StateMachine states, int queued)
      throws VerbsException {
    int length = request.length();
    if (states.isClosed()) {
      throw refusal(VerbsException.EINVAL, "the queue pair is closed");
    } else if (states.state() != QueuePairState.RTS && !states.isInError()) {
      throw refusal(VerbsException.EINVAL, "the queue pair is in " + states.state());
    } else if (queued == queuePair.depth()) {
      throw refusal(VerbsException.ENOMEM, "the send queue is full");
    } else if (length < 0 || length > queuePair.device().attributes().maxMessageSize()) {
      throw refusal(
          VerbsException.EINVAL,
          length + " bytes are not 0 to " + queuePair.device().attributes().maxMessageSize());
    }
  }

  private static VerbsException refusal(int errno, String reason) {
    return new VerbsException("RDMA_READ", errno, reason);
  }
}
