package dev.sluice.rdma;

/** Takes the completions of queue pairs (ibv_create_cq(3)). Polled by one thread at a time. */
public interface CompletionQueue extends AutoCloseable {
  /** Completions that it holds; queue pairs must not have more under way (a CQ overrun). */
  int capacity();

  /**
   * Moves completions into {@code into}, which is cleared first (ibv_poll_cq(3)); never waits.
   *
   * @return their number; 0 when the queue is empty
   * @throws VerbsException EIO after an overrun, which leaves the queue's queue pairs unusable,
   *     too, and after the device has failed
   */
  int poll(WorkCompletions into) throws VerbsException;

  /** Arms the queue: the next completion raises one event on its channel (ibv_req_notify_cq(3)). */
  void requestNotify() throws VerbsException;

  /** Fails with EBUSY while a queue pair uses the queue (ibv_destroy_cq(3)). Idempotent. */
  @Override
  void close() throws VerbsException;
}
