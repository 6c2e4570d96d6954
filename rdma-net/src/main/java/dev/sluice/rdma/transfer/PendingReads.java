// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.TaskFailures;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.transfer.ReadException.Cause;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reads that have not been answered, as an intrusive linked list. Gives each read its one
 * answer. The {@link ReadEngine} owns it, and {@link Recovery} answers through it, too. Engine
 * thread only.
 *
 * <p>A listener runs on this thread with no lock held. If it throws, the exception is logged and
 * ignored.
 */
final class PendingReads {
  private static final Logger LOG = LoggerFactory.getLogger(PendingReads.class);

  private final Counters<TransferCounter> counters;

  /** Read that was added last. */
  private @Nullable ReadRequest last;

  PendingReads(Counters<TransferCounter> counters) {
    this.counters = counters;
  }

  void add(ReadRequest read) {
    read.before = last;
    if (last != null) {
      last.after = read;
    }
    last = read;
    read.source().admitted();
  }

  boolean isEmpty() {
    return last == null;
  }

  /** Returns a copy, since answering a read changes this list. */
  List<ReadRequest> where(Predicate<ReadRequest> condition) {
    List<ReadRequest> found = new ArrayList<>();
    for (ReadRequest read = last; read != null; read = read.before) {
      if (condition.test(read)) {
        found.add(read);
      }
    }
    return found;
  }

  /** True if the deadline of a read has passed. */
  boolean isLate(long nowNanos) {
    ReadRequest read = last;
    while (read != null && read.deadlineNanos() - nowNanos > 0) {
      read = read.before;
    }
    return read != null;
  }

  void succeed(ReadRequest read) {
    if (remove(read)) {
      counters.increment(TransferCounter.READS_COMPLETED);
      counters.add(TransferCounter.READ_BYTES, read.bytes());
      read.succeeded();
      try {
        read.listener().onSuccess();
      } catch (RuntimeException | Error e) {
        logThrown(read, e);
      }
    }
  }

  /**
   * @param status status of the failed work request; null if none failed
   */
  void fail(ReadRequest read, Cause cause, @Nullable WorkCompletionStatus status, String detail) {
    if (remove(read)) {
      fail(read, cause, status, detail, counters);
    }
  }

  /** Answers a request that was not admitted. Any thread. */
  static void fail(
      ReadRequest request, Cause cause, String detail, Counters<TransferCounter> counters) {
    fail(request, cause, null, detail, counters);
  }

  private static void fail(
      ReadRequest request,
      Cause cause,
      @Nullable WorkCompletionStatus status,
      String detail,
      Counters<TransferCounter> counters) {
    counters.increment(counter(cause));
    try {
      request.listener().onFailure(new ReadException(cause, status, request.peer(), detail));
    } catch (RuntimeException | Error e) {
      logThrown(request, e);
    }
  }

  private boolean remove(ReadRequest read) {
    if (read.isAnswered()) {
      return false;
    }
    if (read.before != null) {
      read.before.after = read.after;
    }
    if (read.after != null) {
      read.after.before = read.before;
    } else {
      last = read.before;
    }
    read.before = null;
    read.after = null;
    read.source().answered();
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
    TaskFailures.log(LOG, "The listener of a READ from {} failed", request.peer(), thrown);
  }
}
