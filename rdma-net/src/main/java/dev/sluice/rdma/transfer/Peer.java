// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Engine's state of a process that it READs from: some 2 kB, in addition to the one queue pair. The
 * {@link ReadEngine} creates it for the first read. Engine thread only. Forgotten when the peer has
 * no recent failure, no queue pair and no reads.
 *
 * <p>Reads wait here as long as they are not, or only partly, posted. Small reads, of tables and of
 * few blocks, are posted before large ones: a task needs them before it can READ more. {@link
 * Connection} still posts some of the large ones. Only the first read of each kind may have been
 * started.
 */
final class Peer {
  private final PeerAddress address;
  private final CircuitBreaker breaker;
  private final LatencyHistogram latency;

  /** Windows of {@link SlowPeers}. */
  private final LatencyWindows recent;

  private final Queue<ReadRequest> small = new ArrayDeque<>();
  private final Queue<ReadRequest> large = new ArrayDeque<>();

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

  /** Makes a read wait until it is posted. */
  void add(ReadRequest read) {
    (read.bytes() > RdmaEndpoint.SMALL_READ_BYTES ? large : small).add(read);
  }

  boolean hasWaiting() {
    return !small.isEmpty() || !large.isEmpty();
  }

  /** First small read to post; null if there is none. */
  @Nullable ReadRequest firstSmall() {
    return first(small);
  }

  /** First large read to post; null if there is none. */
  @Nullable ReadRequest firstLarge() {
    return first(large);
  }

  private static ReadRequest first(Queue<ReadRequest> reads) {
    while (!reads.isEmpty() && (reads.peek().isAnswered() || !reads.peek().hasMore())) {
      reads.remove();
    }
    return reads.peek();
  }

  /** Removes the waiting reads that have been started: their queue pair broke. */
  List<ReadRequest> removeStarted() {
    List<ReadRequest> started = new ArrayList<>(2);
    for (Queue<ReadRequest> reads : List.of(small, large)) {
      ReadRequest first = reads.peek();
      if (first != null && first.isStarted()) {
        started.add(reads.remove());
      }
    }
    return started;
  }

  /** Removes all waiting reads. */
  List<ReadRequest> removeWaiting() {
    List<ReadRequest> all = Stream.concat(small.stream(), large.stream()).toList();
    small.clear();
    large.clear();
    return all;
  }

  /** Removes the waiting reads that have been answered. */
  void removeAnswered() {
    small.removeIf(ReadRequest::isAnswered);
    large.removeIf(ReadRequest::isAnswered);
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
