// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads from one peer that are not yet, or only partly, posted. Small reads, of tables and of few
 * blocks, are posted before large ones: a task needs them before it can READ more. {@link
 * Connection} still posts some of the large ones. Only the first read of each kind may have been
 * started. Each {@link Peer} has one. Engine thread only.
 */
final class WaitingReads {
  private final Queue<ReadRequest> small = new ArrayDeque<>();
  private final Queue<ReadRequest> large = new ArrayDeque<>();

  void add(ReadRequest read) {
    (read.bytes() > RdmaEndpoint.SMALL_READ_BYTES ? large : small).add(read);
  }

  boolean isEmpty() {
    return small.isEmpty() && large.isEmpty();
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

  /** Removes the reads that have been started: their queue pair broke. */
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

  List<ReadRequest> removeAll() {
    List<ReadRequest> all = Stream.concat(small.stream(), large.stream()).toList();
    small.clear();
    large.clear();
    return all;
  }

  void removeAnswered() {
    small.removeIf(ReadRequest::isAnswered);
    large.removeIf(ReadRequest::isAnswered);
  }
}
