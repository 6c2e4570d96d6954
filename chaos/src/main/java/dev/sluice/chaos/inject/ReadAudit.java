// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Tracks the memory that outstanding READs may still write to. It counts READs that are posted into
 * memory of an earlier, outstanding READ: bytes of one task could land in another's buffer. A READ
 * leaves its memory when it or a later READ of its queue pair completes, or when the queue pair is
 * destroyed. Any thread may call it. An executor has one, which {@link ChaosShuffleManager}
 * creates.
 */
final class ReadAudit {
  /** Posted READs by the number of their queue pair, in the order of posting. */
  private final Map<Integer, Deque<SendWorkRequest>> posted = new HashMap<>();

  /** Ends of the ranges that READs may write to, by their beginnings. */
  private final TreeMap<Long, Long> ranges = new TreeMap<>();

  private int underWay;
  private long overlaps;

  synchronized void posted(int qpNumber, SendWorkRequest request) {
    ScatterGatherEntry target = request.local();
    long end = target.address() + Integer.toUnsignedLong(target.length());
    Map.Entry<Long, Long> before = ranges.lowerEntry(end);
    if (before != null && before.getValue() > target.address()) {
      overlaps++;
    }
    ranges.put(target.address(), end);
    posted.computeIfAbsent(qpNumber, _ -> new ArrayDeque<>()).add(request);
    underWay++;
  }

  /** Removes a READ that the provider refused to post. */
  synchronized void refused(int qpNumber, SendWorkRequest request) {
    Deque<SendWorkRequest> requests = posted.get(qpNumber);
    if (requests != null && requests.removeLastOccurrence(request)) {
      left(request);
    }
  }

  /** Returns the READs that a completion completes; its own is the last. */
  synchronized List<SendWorkRequest> completed(int qpNumber, long wrId) {
    Deque<SendWorkRequest> requests = posted.get(qpNumber);
    List<SendWorkRequest> done = new ArrayList<>();
    if (requests == null || requests.stream().noneMatch(request -> request.wrId() == wrId)) {
      return done;
    }
    SendWorkRequest request;
    do {
      request = requests.remove();
      left(request);
      done.add(request);
    } while (request.wrId() != wrId);
    return done;
  }

  synchronized void destroyed(int qpNumber) {
    Deque<SendWorkRequest> requests = posted.remove(qpNumber);
    if (requests != null) {
      requests.forEach(this::left);
    }
  }

  private void left(SendWorkRequest request) {
    ranges.remove(request.local().address());
    underWay--;
  }

  synchronized int underWay() {
    return underWay;
  }

  synchronized int underWay(int qpNumber) {
    Deque<SendWorkRequest> requests = posted.get(qpNumber);
    return requests == null ? 0 : requests.size();
  }

  synchronized long overlaps() {
    return overlaps;
  }
}
