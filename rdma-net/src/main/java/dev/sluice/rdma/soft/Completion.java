// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;

/**
 * A work completion in a completion queue. {@link CompletionReporter} makes it under the queue
 * pair's lock; {@link SoftCompletionQueue} moves it to the thread that polls. Immutable.
 *
 * @param owner queue pair whose work request completed
 * @param retired entries of the send queue that become free once this completion is polled: its own
 *     and those of the unsignaled work requests before it
 */
record Completion(long wrId, WorkCompletionStatus status, SoftQueuePair owner, int retired) {

  void moveTo(WorkCompletions into) {
    into.add(wrId, status, owner.qpNumber(), 0);
    owner.polled(this);
  }
}
