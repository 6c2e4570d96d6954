// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import dev.sluice.verbs.VerbsException;

/**
 * Queue of the completions of queue pairs (ibv_create_cq(3)). Polled by one thread at a time. Its
 * creator closes it after the queue pairs that use it.
 */
public interface CompletionQueue extends AutoCloseable {
  /**
   * Number of completions that the queue holds. More outstanding work requests would overrun it.
   */
  int capacity();

  /**
   * Moves completions into {@code into}, which is cleared first (ibv_poll_cq(3)). Never waits.
   *
   * @return number of completions; 0 if the queue is empty
   * @throws VerbsException EIO after an overrun, which breaks the queue's queue pairs as well, and
   *     after the device has failed
   */
  int poll(WorkCompletions into) throws VerbsException;

  /** Arms the queue: the next completion raises one event on its channel (ibv_req_notify_cq(3)). */
  void requestNotify() throws VerbsException;

  /** Destroys the queue (ibv_destroy_cq(3)); EBUSY while a queue pair uses it. Idempotent. */
  @Override
  void close() throws VerbsException;
}
