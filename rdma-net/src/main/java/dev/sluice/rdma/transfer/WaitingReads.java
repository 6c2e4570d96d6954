package dev.sluice.rdma.transfer;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.stream.Stream;

/**
 * The reads from one peer that are not or not wholly posted. Small ones, of tables and of few
 * blocks, somebody waits for before there is more to READ: they go before large ones, of which
 * {@link Connection} posts some at least. Of either kind only the first may have been started.
 * Engine thread only.
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

  /** The first small one to post; null when there is none. */
  ReadRequest firstSmall() {
    return first(small);
  }

  /** The first large one to post; null when there is none. */
  ReadRequest firstLarge() {
    return first(large);
  }

  private static ReadRequest first(Queue<ReadRequest> reads) {
    while (!reads.isEmpty() && (reads.peek().isAnswered() || !reads.peek().hasMore())) {
      reads.remove();
    }
    return reads.peek();
  }

  /** Takes those off that have been started: their queue pair broke. */
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
