package dev.sluice.rdma.transfer;

/** What an endpoint counts. */
public enum TransferCounter {
  /** Requests that were submitted. */
  READS_SUBMITTED,
  /** Requests whose bytes all arrived. */
  READS_COMPLETED,
  /** Requests that the peer refused with REM_ACCESS_ERR: their location was stale. */
  READS_STALE_LOCATION,
  /** Requests that failed because no queue pair could be connected. */
  READS_CONNECT,
  /** Requests that failed in transfer, also on a fresh queue pair, or with the device. */
  READS_TRANSPORT,
  /** Requests that were not done by their deadline. */
  READS_DEADLINE,
  /** Requests that were not tried because the peer's circuit breaker was open. */
  READS_CIRCUIT_OPEN,
  /** Requests that the closing of the endpoint ended. */
  READS_CLOSED,
  /** Bytes that completed requests brought into local buffers. */
  READ_BYTES,
  /** READ work requests that were posted, repeated ones included. */
  WORK_REQUESTS,
  /** Chains in which they were posted: calls of post_send. */
  POSTS,
  /** Requests that were posted again after a failure of their own. */
  READ_RETRIES,
  /** Requests that were posted again because another one broke their queue pair. */
  READ_REPOSTS,
  /** Queue pairs that were created to READ from peers. */
  QUEUE_PAIRS_CREATED,
  /** Of these, closed for whatever reason. */
  QUEUE_PAIRS_CLOSED,
  /** Of these, closed while idle to make room for another peer. */
  QUEUE_PAIRS_EVICTED,
  /** Of these, closed after nothing was READ for the idle timeout. */
  QUEUE_PAIRS_IDLE,
  /** Of these, broken while they were in use. */
  QUEUE_PAIRS_FAILED,
  /** Queue pairs that were created for peers that READ from this process. */
  QUEUE_PAIRS_ACCEPTED,
  /** Attempts to connect a queue pair that failed or took too long. */
  CONNECT_FAILURES,
  /** Times that a peer's circuit breaker opened. */
  CIRCUIT_OPENINGS,
  /** Bytes of the buffers that are in use now, rounded up to pages. */
  BUFFER_BYTES_IN_USE,
  /** Buffers that were not there at once. */
  BUFFER_WAITS,
  /** Of these, not there by their deadline either. */
  BUFFERS_DENIED,
  /**
   * Buffers lost for good because a queue pair that READ into them was neither flushed nor
   * destroyed.
   */
  BUFFERS_GIVEN_UP,
  /** Polls of the completion queue. */
  POLLS,
  /** Times that the completion thread slept. */
  SLEEPS,
  /** Times that a submission woke it. */
  WAKE_UPS
}
