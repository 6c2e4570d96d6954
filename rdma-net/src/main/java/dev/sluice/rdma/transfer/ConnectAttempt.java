package dev.sluice.rdma.transfer;

import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.VerbsException;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates one queue pair and connects it, step by step on the {@link ConnectThreads}. What has come
 * of it is the outcome's; the queue pair belongs to this until then, and is destroyed where there
 * is none. The engine's thread starts it and may call it off; its lock is held in commands of the
 * device, so that thread never waits for it.
 */
final class ConnectAttempt {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectAttempt.class);

  /** With less than so many READs under way a queue pair is not worth having. */
  private static final int MIN_DEPTH = 8;

  private final PeerAddress peer;
  private final Setup setup;
  private final Outcome outcome;
  private QueuePair queuePair;
  private boolean over;
  private volatile boolean calledOff;

  /** What all attempts of an endpoint have in common. */
  record Setup(
      ProtectionDomain protectionDomain,
      CompletionQueue completionQueue,
      TransferOptions options,
      QueuePairConnector connector,
      TransferCounters counters,
      Executor threads) {

    /** Tells the peer that a queue pair of ours is gone. */
    void tellReleased(PeerAddress peer, int qpNumber) {
      try {
        connector.released(peer, qpNumber);
      } catch (RuntimeException e) {
        LOG.warn("{} could not be told of a closed queue pair", peer, e);
      }
    }

    /** Destroys a queue pair that was created for a peer, and tells the peer. */
    void destroy(PeerAddress peer, QueuePair queuePair) {
      queuePair.close();
      counters.increment(TransferCounter.QUEUE_PAIRS_CLOSED);
      tellReleased(peer, queuePair.qpNumber());
    }
  }

  /** How it ends, on any thread; nothing is told of an attempt that was called off. */
  interface Outcome {
    /** READs can be posted; the queue pair is the receiver's. */
    void connected(QueuePair queuePair);

    /** The device has no send queues as deep as was asked for, and this deep ones. */
    void cut(int depth);

    /** It cannot be connected to the peer. */
    void failed(String reason);

    /** This side's device has none, whatever the peer. */
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

  /** Ends it. Does not wait: a queue pair that there is by now is destroyed later. */
  void callOff() {
    calledOff = true;
    setup.threads.execute(this::end);
  }

  private synchronized void create(int depth) {
    if (calledOff) {
      return;
    }
    try {
      queuePair = createQueuePair(depth);
      setup.counters.increment(TransferCounter.QUEUE_PAIRS_CREATED);
      queuePair.toInit(Set.of());
    } catch (VerbsException e) {
      end();
      outcome.refused(e.getMessage());
      return;
    } catch (RuntimeException e) {
      fail(e);
      return;
    }
    exchange();
  }

  /**
   * Devices have less room than ibv_query_device(3) says for work requests that take several of its
   * units, as READs do on mlx5.
   */
  private QueuePair createQueuePair(int depth) throws VerbsException {
    try {
      return setup.protectionDomain.createQueuePair(setup.completionQueue, depth);
    } catch (VerbsException e) {
      boolean tooDeep = e.errno() == VerbsException.ENOMEM || e.errno() == VerbsException.EINVAL;
      if (!tooDeep || depth / 2 < MIN_DEPTH) {
        throw e;
      }
    }
    QueuePair shallower = createQueuePair(depth / 2);
    outcome.cut(depth / 2);
    return shallower;
  }

  private void exchange() {
    try {
      setup
          .connector
          .exchange(peer, setup.protectionDomain.device().providerName(), queuePair.address())
          .whenComplete((remote, error) -> setup.threads.execute(() -> exchanged(remote, error)));
    } catch (RuntimeException e) {
      fail(e);
    }
  }

  private synchronized void exchanged(QueuePairAddress remote, Throwable error) {
    if (over) {
      if (error == null) { // the peer made its side after it was told
        setup.tellReleased(peer, queuePair.qpNumber());
      }
    } else if (error != null) {
      fail(error);
    } else {
      queuePair
          .rendezvous(remote, setup.options.connectTimeoutMs())
          .whenComplete((met, failure) -> setup.threads.execute(() -> met(met, failure)));
    }
  }

  private synchronized void met(QueuePairAddress remote, Throwable error) {
    if (over) {
      setup.tellReleased(peer, queuePair.qpNumber());
      return;
    }
    if (error != null) {
      fail(error);
      return;
    }
    try {
      queuePair.toRtr(remote, setup.options.connection());
      queuePair.toRts();
    } catch (VerbsException e) {
      fail(e);
      return;
    }
    if (!calledOff) {
      over = true;
      outcome.connected(queuePair);
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
