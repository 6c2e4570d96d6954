// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.TaskFailures;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletionStatus.Scope;
import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides about reads when their work requests complete, with success or failure. The {@link
 * ReadEngine} creates it, and calls it on its thread. There is nothing to close.
 *
 * <p>The status of the first failed work request tells which part is broken. If the operation is
 * broken, its read would fail again: it is answered with STALE_LOCATION after REM_ACCESS_ERR, else
 * with TRANSPORT. If the queue pair is broken, the read is retried once on a fresh queue pair, and
 * then fails with TRANSPORT. The other reads of that queue pair were not at fault. Each is posted
 * again once its last work request is flushed, and keeps its retry.
 *
 * <p>Failures in a row open the peer's circuit breaker, which fails all reads that wait for the
 * peer. Failures count whichever side caused them, since each costs a queue pair. REM_ACCESS_ERR
 * does not count: it is the answer of a working peer. A queue pair that refuses a post ({@link
 * #refused}) does not count either.
 */
final class Recovery {
  private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);

  static final String FAILED_TOO_OFTEN =
      "READs from it failed too often recently, so its circuit breaker is open";

  private final Connections connections;
  private final PendingReads reads;
  private final ReadLatencies latencies;
  private final Counters<TransferCounter> counters;
  private final LongSupplier clock;
  private final Consumer<Peer> scheduler;

  /** Work requests of all queue pairs that were posted and not retired. */
  private int outstanding;

  /** Time at which the completion that is handled was polled. */
  private long completedNanos;

  /**
   * @param scheduler is told of peers that have something to post
   */
  Recovery(
      Connections connections,
      PendingReads reads,
      ReadLatencies latencies,
      Counters<TransferCounter> counters,
      LongSupplier clock,
      Consumer<Peer> scheduler) {
    this.connections = connections;
    this.reads = reads;
    this.latencies = latencies;
    this.counters = counters;
    this.clock = clock;
    this.scheduler = scheduler;
  }

  int outstanding() {
    return outstanding;
  }

  void posted(int workRequests) {
    outstanding += workRequests;
  }

  /** Takes a completion of one of the connection's work requests. */
  void completed(
      Connection connection,
      long wrId,
      WorkCompletionStatus status,
      int vendorError,
      long polledNanos) {
    completedNanos = polledNanos;
    long sequence = connection.sequence(wrId);
    if (sequence < 0) {
      LOG.error("A queue pair to {} completed a work request twice", connection.peer());
      return;
    }
    // A completion also completes all older, unsignaled work requests.
    while (connection.oldest() < sequence) {
      retireOldest(connection, WorkCompletionStatus.SUCCESS);
    }
    if (status == WorkCompletionStatus.SUCCESS) {
      connection.used(polledNanos);
    } else if (connection.state() == Connection.State.READY) {
      firstFailure(connection, status, vendorError);
    }
    retireOldest(connection, status);
    if (connection.state() == Connection.State.DRAINING && connection.outstanding() == 0) {
      connections.close(connection);
    } else if (connection.peer().hasWaiting()) {
      scheduler.accept(connection.peer());
    }
  }

  private void firstFailure(Connection connection, WorkCompletionStatus status, int vendorError) {
    Peer peer = connection.peer();
    LOG.info(
        "A queue pair to {} failed: {}, vendor error 0x{}",
        peer,
        status,
        Integer.toHexString(vendorError));
    breakOff(connection);
    if (status == WorkCompletionStatus.REM_ACCESS_ERR) {
      peer.breaker().succeeded(); // The peer did answer.
    } else {
      failed(peer);
    }
  }

  private void retireOldest(Connection connection, WorkCompletionStatus status) {
    ReadRequest read = connection.retireOldest();
    outstanding--;
    read.retire(status);
    if (read.outstanding() == 0) {
      settle(read);
    }
  }

  /** Decides about a read that has no outstanding work request. */
  private void settle(ReadRequest read) {
    if (read.isAnswered()) {
      return;
    }
    WorkCompletionStatus failure = read.failure();
    if (!read.isBroken()) {
      if (!read.hasMore()) {
        read.source().breaker().succeeded();
        latencies.took(read.source(), completedNanos - read.postedNanos(), read.bytes());
        reads.succeed(read);
      }
    } else if (failure == null) {
      counters.increment(TransferCounter.READ_REPOSTS);
      postAgain(read);
    } else if (failure == WorkCompletionStatus.REM_ACCESS_ERR) {
      reads.fail(read, Cause.STALE_LOCATION, failure, "the peer refused " + read.ranges());
    } else if (failure.scope() == Scope.OPERATION) {
      reads.fail(read, Cause.TRANSPORT, failure, "the work request was invalid");
    } else if (read.retry() && !read.source().breaker().isOpen(clock.getAsLong())) {
      counters.increment(TransferCounter.READ_RETRIES);
      postAgain(read);
    } else {
      reads.fail(read, Cause.TRANSPORT, failure, "the work request failed");
    }
  }

  private void postAgain(ReadRequest read) {
    Peer peer = read.source();
    if (peer.breaker().isOpen(clock.getAsLong())) {
      reads.fail(read, Cause.CIRCUIT_OPEN, null, FAILED_TOO_OFTEN);
      return;
    }
    read.rewind();
    peer.add(read);
    scheduler.accept(peer);
  }

  /** Ends the use of a READY connection. Outstanding work requests still have to be flushed. */
  private void breakOff(Connection connection) {
    counters.increment(TransferCounter.QUEUE_PAIRS_FAILED);
    connections.drain(connection, clock.getAsLong());
    Peer peer = connection.peer();
    for (ReadRequest started : peer.removeStarted()) {
      started.abandon();
      if (started.outstanding() == 0) {
        settle(started);
      }
    }
    scheduler.accept(peer);
  }

  /** Moves the connection to ERROR, so that its READs end. */
  void flush(Connection connection) {
    if (connection.state() != Connection.State.READY) {
      return; // The queue pair has failed by itself.
    }
    breakOff(connection);
    try {
      connection.queuePair().toError();
    } catch (VerbsException e) {
      LOG.warn("Flushing a queue pair to {} failed; destroying it", connection.peer(), e);
      destroy(connection);
    }
    if (connection.outstanding() == 0) {
      connections.close(connection);
    }
  }

  /** Destroys the queue pair, which ends its READs without completions. */
  void destroy(Connection connection) {
    if (!connections.close(connection)) { // as after a device failure, logged already
      giveUpTargets(connection, "destroyed");
    }
    while (connection.outstanding() > 0) {
      retireOldest(connection, WorkCompletionStatus.WR_FLUSH_ERR);
    }
  }

  /** Closes a queue pair that refused a work request at posting: its state is unknown. */
  void refused(Connection connection, PostException e) {
    long refused = connection.sequenceInChain(e.badIndex());
    breakOff(connection);
    if (!connections.close(connection)) {
      giveUpTargets(connection, "destroyed");
    }
    while (connection.outstanding() > 0) {
      retireOldest(
          connection,
          connection.oldest() == refused
              ? WorkCompletionStatus.LOC_QP_OP_ERR
              : WorkCompletionStatus.WR_FLUSH_ERR);
    }
    LOG.warn("Posting a READ from {} failed; its queue pair was closed", connection.peer(), e);
  }

  /** Destroys a queue pair after posting threw (defect, lack of memory): its state is unknown. */
  void destroyed(Connection connection, Throwable e) {
    try {
      breakOff(connection);
      failed(connection.peer());
      destroy(connection);
    } finally {
      TaskFailures.log(
          LOG,
          "Posting READs from {} failed; their queue pair was destroyed",
          connection.peer(),
          e);
    }
  }

  /** Gives up a queue pair that did not flush in time, with its buffers. */
  void giveUp(Connection connection) {
    connections.close(connection);
    giveUpTargets(connection, "flushed");
  }

  /** Withdraws the buffers that a queue pair's READs may still write to, for good. */
  private void giveUpTargets(Connection connection, String what) {
    LOG.info(
        "A queue pair to {} was not {}: the buffers of its READs are never used again",
        connection.peer(),
        what);
    while (connection.outstanding() > 0) {
      ReadRequest read = connection.retireOldest();
      outstanding--;
      if (read.giveUpTarget()) {
        counters.increment(TransferCounter.BUFFERS_GIVEN_UP);
      }
      read.retire(WorkCompletionStatus.WR_FLUSH_ERR);
      reads.fail(read, Cause.TRANSPORT, null, "its queue pair was not " + what);
    }
  }

  /** Counts a failed READ from the peer that also cost its queue pair. */
  void failed(Peer peer) {
    if (countFailure(peer)) {
      failWaiting(peer, Cause.CIRCUIT_OPEN, FAILED_TOO_OFTEN);
    }
  }

  /**
   * @return true if this failure opened the peer's circuit breaker
   */
  boolean countFailure(Peer peer) {
    boolean opened = peer.breaker().failed(clock.getAsLong());
    if (opened) {
      counters.increment(TransferCounter.CIRCUIT_OPENINGS);
      LOG.warn(
          "READs from {} failed too often: its blocks fall back for some time (setting"
              + " circuit.cooldown)",
          peer);
    }
    return opened;
  }

  void failWaiting(Peer peer, Cause cause, String detail) {
    peer.breaker().probeEnded(clock.getAsLong());
    peer.removeWaiting().forEach(read -> reads.fail(read, cause, null, detail));
  }
}
