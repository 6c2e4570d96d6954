// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static dev.sluice.rdma.transfer.CounterDescription.level;
import static dev.sluice.rdma.transfer.CounterDescription.total;

/**
 * Counters of an {@link RdmaEndpoint}. Any thread adds to them. Metrics are named after the
 * constants, so users see a new name.
 */
public enum TransferCounter {
  READS_SUBMITTED(total("requests", "Requests that were submitted.")),
  READS_COMPLETED(total("requests", "Requests whose bytes all arrived.")),
  READS_STALE_LOCATION(
      total("requests", "Requests that the peer refused with REM_ACCESS_ERR: a stale location.")),
  READS_CONNECT(
      total("requests", "Requests that failed because no queue pair could be connected.")),
  READS_TRANSPORT(
      total(
          "requests",
          "Requests that failed in transfer, also on a fresh queue pair, or with the device.")),
  READS_DEADLINE(total("requests", "Requests that were not done by their deadline.")),
  READS_CIRCUIT_OPEN(
      total(
          "requests", "Requests that were not tried because the peer's circuit breaker was open.")),
  READS_CLOSED(total("requests", "Requests that ended because the endpoint closed.")),
  READ_BYTES(total("bytes", "Bytes that completed requests brought into local buffers.")),
  WORK_REQUESTS(
      total("work requests", "READ work requests that were posted, repeated ones included.")),
  POSTS(total("calls", "Calls of post_send; each posts a chain of work requests.")),
  READ_RETRIES(total("requests", "Requests that were posted again after a failure of their own.")),
  READ_REPOSTS(
      total(
          "requests",
          "Requests that were posted again because another one broke their queue pair.")),
  QUEUE_PAIRS_CREATED(total("queue pairs", "Queue pairs that were created to READ from peers.")),
  QUEUE_PAIRS_CLOSED(
      total("queue pairs", "Queue pairs to READ from peers that were closed for any reason.")),
  QUEUE_PAIRS_EVICTED(
      total("queue pairs", "Idle queue pairs that were closed to make room for another peer.")),
  QUEUE_PAIRS_IDLE(total("queue pairs", "Queue pairs that were closed after the idle timeout.")),
  QUEUE_PAIRS_FAILED(total("queue pairs", "Queue pairs that broke while they were in use.")),
  QUEUE_PAIRS_ACCEPTED(
      total("queue pairs", "Queue pairs that were created for peers that READ from this process.")),
  QUEUE_PAIRS_SERVING(
      level("queue pairs", "Queue pairs that peers have to READ from this process now.")),
  CONNECT_FAILURES(
      total("attempts", "Attempts to connect a queue pair that failed or took too long.")),
  SLOW_PEERS(total("times", "Times that a peer was reported as slow (`SLOW_PEER` in the log).")),
  CIRCUIT_OPENINGS(total("times", "Times that a peer's circuit breaker opened.")),
  BUFFER_BYTES_IN_USE(
      level("bytes", "Bytes of the buffers that are in use now, rounded up to pages.")),
  BUFFER_WAITS(total("buffers", "Buffers that were not available at once.")),
  BUFFERS_DENIED(total("buffers", "Buffers that were not available by their deadline.")),
  BUFFERS_GIVEN_UP(
      total(
          "buffers",
          "Buffers lost for good because a queue pair that READ into them was neither flushed nor"
              + " destroyed.")),
  POLLS(total("polls", "Polls of the completion queue.")),
  SLEEPS(total("times", "Times that the completion thread slept.")),
  WAKE_UPS(total("times", "Times that a submission woke the completion thread."));

  private final CounterDescription description;

  TransferCounter(CounterDescription description) {
    this.description = description;
  }

  public CounterDescription description() {
    return description;
  }

  /** Returns its name in metrics, such as {@code transfer.read-bytes}. */
  public String metric() {
    return Counters.metric("transfer", this);
  }
}
