// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import org.jspecify.annotations.Nullable;

/**
 * Engine's state of a process that it READs from: some 2 kB, in addition to the one queue pair. The
 * {@link ReadEngine} creates it for the first read. Engine thread only. Forgotten when the peer has
 * no recent failure, no queue pair and no reads.
 */
final class Peer {
  private final PeerAddress address;
  private final CircuitBreaker breaker;
  private final LatencyHistogram latency;

  /** Windows of {@link SlowPeers}. */
  private final LatencyWindows recent;

  private final WaitingReads waiting = new WaitingReads();

  private @Nullable Connection connection;
  private int connectFailures;
  private boolean scheduled;
  private int unanswered;

  Peer(PeerAddress address, CircuitBreaker breaker, LatencyHistogram latency) {
    this.address = address;
    this.breaker = breaker;
    this.latency = latency;
    this.recent = new LatencyWindows(latency);
  }

  PeerAddress address() {
    return address;
  }

  CircuitBreaker breaker() {
    return breaker;
  }

  /** Latency of its READs. */
  LatencyHistogram latency() {
    return latency;
  }

  LatencyWindows recent() {
    return recent;
  }

  WaitingReads waiting() {
    return waiting;
  }

  /** The queue pair that is connecting or connected; null if there is none to post on. */
  @Nullable Connection connection() {
    return connection;
  }

  void connection(@Nullable Connection current) {
    connection = current;
  }

  /** Counts a failed attempt to connect, and returns the number of failures in a row. */
  int connectFailed() {
    return ++connectFailures;
  }

  void connectSettled() {
    connectFailures = 0;
  }

  /** True if it is in one of the engine's queues. */
  boolean isScheduled() {
    return scheduled;
  }

  void schedule() {
    scheduled = true;
  }

  void unschedule() {
    scheduled = false;
  }

  void admitted() {
    unanswered++;
  }

  void answered() {
    unanswered--;
  }

  boolean isForgettable(long nowNanos) {
    return unanswered == 0 && connection == null && breaker.isClear(nowNanos);
  }

  @Override
  public String toString() {
    return address.toString();
  }
}
