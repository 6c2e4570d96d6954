// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.verbs.VerbsException;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates and connects one queue pair, step by step on threads {@code sluice-connect}. The attempt
 * owns the queue pair until the outcome takes it over, and destroys it if there is no success.
 * {@link Connections} creates and starts the attempt on the engine's thread, and may call it off.
 * That thread never waits for this object's lock, which is held during device commands. The lock
 * guards {@link #queuePair} and {@link #over}. It is also held while the outcome is told.
 */
final class ConnectAttempt {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectAttempt.class);

  private final PeerAddress peer;
  private final Setup setup;
  private final Outcome outcome;

  /** The queue pair; null before it is created. */
  private @Nullable QueuePair queuePair;

  private boolean over;
  private volatile boolean calledOff;

  /** Settings that all attempts of an endpoint share. */
  record Setup(
      ProtectionDomain protectionDomain,
      CompletionQueue completionQueue,
      TransferOptions options,
      QueuePairConnector connector,
      Counters<TransferCounter> counters,
      Executor threads) {

    /** Tells the peer that a queue pair of ours is gone. */
    void tellReleased(PeerAddress peer, int qpNumber) {
      try {
        connector.released(peer, qpNumber);
      } catch (RuntimeException | Error e) {
        LOG.warn("Telling {} of a closed queue pair failed", peer, e);
      }
    }

    /** Destroys a queue pair that was created for a peer, and tells the peer. */
    void destroy(PeerAddress peer, QueuePair queuePair) {
      queuePair.close();
      counters.increment(TransferCounter.QUEUE_PAIRS_CLOSED);
      tellReleased(peer, queuePair.qpNumber());
    }
  }

  /**
   * Outcome of an attempt, told on any thread, unless the attempt was called off. Must not block:
   * the attempt's lock is held.
   */
  interface Outcome {
    /** READs can be posted. The receiver owns the queue pair. */
    void connected(QueuePair queuePair);

    /** The queue pair cannot be connected to the peer. */
    void failed(String reason);

    /** This side's device cannot create a queue pair, whatever the peer. */
    void refused(String reason);
  }

  ConnectAttempt(PeerAddress peer, Setup setup, Outcome outcome) {
    this.peer = peer;
    this.setup = setup;
    this.outcome = outcome;
  }

  void start(int depth) {
    setup.threads.execute(() -> create(depth));
  }

  /** Ends the attempt without waiting. A queue pair that exists by now is destroyed later. */
  void callOff() {
    calledOff = true;
    setup.threads.execute(this::end);
  }

  private synchronized void create(int depth) {
    if (calledOff) {
      return;
    }
    QueuePair created;
    try {
      created = setup.protectionDomain.createQueuePair(setup.completionQueue, depth);
      queuePair = created;
      setup.counters.increment(TransferCounter.QUEUE_PAIRS_CREATED);
      created.toInit(Set.of());
    } catch (VerbsException e) {
      end();
      outcome.refused(e.getMessage());
      return;
    } catch (RuntimeException | Error e) {
      fail(e);
      return;
    }
    exchange(created);
  }

  private void exchange(QueuePair created) {
    try {
      setup
          .connector
          .exchange(peer, setup.protectionDomain.device().providerName(), created.address())
          .whenComplete(
              (remote, error) -> setup.threads.execute(() -> exchanged(created, remote, error)));
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  private synchronized void exchanged(
      QueuePair created, QueuePairAddress remote, @Nullable Throwable error) {
    if (over) {
      if (error == null) { // The peer created its side after it was told.
        setup.tellReleased(peer, created.qpNumber());
      }
    } else if (error != null) {
      fail(error);
    } else {
      created
          .rendezvous(remote, setup.options.connectTimeoutMs())
          .whenComplete((met, failure) -> setup.threads.execute(() -> met(created, met, failure)));
    }
  }

  private synchronized void met(
      QueuePair created, QueuePairAddress remote, @Nullable Throwable error) {
    if (over) {
      setup.tellReleased(peer, created.qpNumber());
      return;
    }
    if (error != null) {
      fail(error);
      return;
    }
    try {
      created.toRtr(remote, setup.options.connection());
      created.toRts();
    } catch (VerbsException | RuntimeException | Error e) {
      fail(e);
      return;
    }
    if (!calledOff) {
      over = true;
      outcome.connected(created);
    }
  }

  private void fail(Throwable error) {
    end();
    if (!calledOff) {
      Throwable cause = error instanceof CompletionException ? error.getCause() : error;
      outcome.failed(cause instanceof VerbsException e ? e.getMessage() : String.valueOf(cause));
    }
  }

  private synchronized void end() {
    if (!over) {
      over = true;
      if (queuePair != null) {
        setup.destroy(peer, queuePair);
      }
    }
  }
}
