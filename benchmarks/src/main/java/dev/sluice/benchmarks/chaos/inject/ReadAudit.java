package dev.sluice.benchmarks.chaos.inject;

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
 * Knows which memory READs may still write to, and counts those that are posted into memory that an
 * earlier one has not left yet: bytes of one task could land in another's buffer. A READ has left
 * its memory when it or a later one of its queue pair completed, or when the queue pair was
 * destroyed. Any thread.
 */
final class ReadAudit {
  /** Posted READs by the number of their queue pair, in the order of posting. */
  private final Map<Integer, Deque<SendWorkRequest>> posted = new HashMap<>();

  /** Ends of the ranges that may be written to, by their beginnings. */
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

  /** It was not posted after all. */
  synchronized void refused(int qpNumber, SendWorkRequest request) {
    Deque<SendWorkRequest> requests = posted.get(qpNumber);
    if (requests != null && requests.removeLastOccurrence(request)) {
      left(request);
    }
  }

  /** The READs that the completion says are done, its own last. */
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
