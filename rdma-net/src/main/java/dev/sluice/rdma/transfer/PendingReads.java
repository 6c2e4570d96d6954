package dev.sluice.rdma.transfer;

import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.transfer.ReadException.Cause;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reads that have not been answered: gives each its one answer. Engine thread only.
 *
 * <p>A listener runs on this thread with no lock held; one that throws is logged and forgotten.
 */
final class PendingReads {
  private static final Logger LOG = LoggerFactory.getLogger(PendingReads.class);

  private final TransferCounters counters;
  private final Set<PendingRead> unanswered = Collections.newSetFromMap(new IdentityHashMap<>());

  PendingReads(TransferCounters counters) {
    this.counters = counters;
  }

  void add(PendingRead read) {
    unanswered.add(read);
    read.peer().admitted();
  }

  boolean isEmpty() {
    return unanswered.isEmpty();
  }

  /** A copy, as answering changes the set. */
  List<PendingRead> where(Predicate<PendingRead> condition) {
    List<PendingRead> found = new ArrayList<>();
    for (PendingRead read : unanswered) {
      if (condition.test(read)) {
        found.add(read);
      }
    }
    return found;
  }

  void succeed(PendingRead read) {
    if (remove(read)) {
      counters.increment(TransferCounter.READS_COMPLETED);
      counters.add(TransferCounter.READ_BYTES, read.bytes());
      try {
        read.request().listener().onSuccess();
      } catch (RuntimeException | Error e) {
        logThrown(read.request(), e);
      }
    }
  }

  /**
   * @param status of the work request that failed; null where none did
   */
  void fail(PendingRead read, Cause cause, WorkCompletionStatus status, String detail) {
    if (remove(read)) {
      fail(read.request(), cause, status, detail, counters);
    }
  }

  /** Answers a request that comes after the end. Any thread. */
  static void reject(ReadRequest request, String detail, TransferCounters counters) {
    fail(request, Cause.CLOSED, null, detail, counters);
  }

  private static void fail(
      ReadRequest request,
      Cause cause,
      WorkCompletionStatus status,
      String detail,
      TransferCounters counters) {
    counters.increment(counter(cause));
    try {
      request.listener().onFailure(new ReadException(cause, status, request.peer(), detail));
    } catch (RuntimeException | Error e) {
      logThrown(request, e);
    }
  }

  private boolean remove(PendingRead read) {
    if (!unanswered.remove(read)) {
      return false;
    }
    read.peer().answered();
    read.answered();
    return true;
  }

  private static TransferCounter counter(Cause cause) {
    return switch (cause) {
      case STALE_LOCATION -> TransferCounter.READS_STALE_LOCATION;
      case CONNECT -> TransferCounter.READS_CONNECT;
      case TRANSPORT -> TransferCounter.READS_TRANSPORT;
      case DEADLINE -> TransferCounter.READS_DEADLINE;
      case CIRCUIT_OPEN -> TransferCounter.READS_CIRCUIT_OPEN;
      case CLOSED -> TransferCounter.READS_CLOSED;
    };
  }

  private static void logThrown(ReadRequest request, Throwable thrown) {
    LOG.error("The listener of a READ from {} failed", request.peer(), thrown);
  }
}
