package dev.sluice.rdma.transfer;

import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.VerbsException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queue pairs by which this process READs: creates, connects, evicts and closes them. Engine
 * thread only; the engine closes it.
 *
 * <p>One queue pair a peer, created when the first READ wants it, closed when it was idle for long
 * or, at the limit, when another peer wants one. At 1,000 executors that all READ from one another
 * a process has 1,000 of these and 1,000 accepted ones; with a depth of 128 each costs about 10 KiB
 * of send queue and 1.5 KiB of heap: 12 MB in all, and no thread.
 */
final class Connections {
  private static final Logger LOG = LoggerFactory.getLogger(Connections.class);

  /** A queue pair that flushes at all does so at once; whatever this waits for is lost. */
  private static final long FLUSH_TIMEOUT_MS = 5_000;

  private final ProtectionDomain protectionDomain;
  private final CompletionQueue completionQueue;
  private final TransferOptions options;
  private final QueuePairConnector connector;
  private final TransferCounters counters;
  private final Executor engine;
  private final Connection[] slots;
  private final int depth;
  private final int maxReadBytes;
  private int generation;
  private boolean warned;

  /**
   * @param engine runs tasks on the engine's thread
   */
  Connections(
      ProtectionDomain protectionDomain,
      CompletionQueue completionQueue,
      TransferOptions options,
      QueuePairConnector connector,
      TransferCounters counters,
      Executor engine) {
    this.protectionDomain = protectionDomain;
    this.completionQueue = completionQueue;
    this.options = options;
    this.connector = connector;
    this.counters = counters;
    this.engine = engine;
    DeviceAttributes device = protectionDomain.device().attributes();
    slots = new Connection[Math.min(options.maxQueuePairs(), device.maxQueuePairs())];
    depth = Math.min(options.sendQueueDepth(), device.maxQueuePairWr());
    maxReadBytes = (int) Math.min(options.maxReadBytes(), device.maxMessageSize());
  }

  /** The connection that a work request belongs to; null when it is closed. */
  Connection of(long wrId) {
    int id = Connection.connectionId(wrId);
    Connection connection = slots[id % slots.length];
    return connection != null && connection.id() == id ? connection : null;
  }

  /**
   * Creates a queue pair and starts to connect it.
   *
   * @param connected told of the connection when READs can be posted, or of the failure
   * @return null when the limit is reached and none is idle
   * @throws VerbsException when the device refuses
   */
  Connection open(Peer peer, long nowNanos, ConnectListener connected) throws VerbsException {
    int slot = freeSlot();
    if (slot < 0) {
      warnOnce();
      return null;
    }
    QueuePair queuePair = protectionDomain.createQueuePair(completionQueue, depth);
    counters.increment(TransferCounter.QUEUE_PAIRS_CREATED);
    Connection connection =
        new Connection(nextId(slot), peer, queuePair, depth, maxReadBytes, nowNanos);
    connection.deadlineNanos(nowNanos + TimeUnit.MILLISECONDS.toNanos(options.connectTimeoutMs()));
    slots[slot] = connection;
    exchange(connection, connected);
    return connection;
  }

  /** How an attempt to connect ends, unless the connection is closed before. */
  interface ConnectListener {
    void connected(Connection connection);

    void connectFailed(Connection connection, String reason);
  }

  private void exchange(Connection connection, ConnectListener listener) {
    CompletableFuture<QueuePairAddress> answer;
    try {
      connection.queuePair().toInit(Set.of());
      answer =
          connector.exchange(
              connection.peer().address(),
              protectionDomain.device().providerName(),
              connection.queuePair().address());
    } catch (VerbsException | RuntimeException e) {
      answer = CompletableFuture.failedFuture(e);
    }
    CompletableFuture<QueuePairAddress> exchanged = answer;
    exchanged
        .thenCompose(
            remote -> connection.queuePair().rendezvous(remote, options.connectTimeoutMs()))
        .whenComplete(
            (remote, error) -> {
              boolean peerTookPart = !exchanged.isCompletedExceptionally();
              engine.execute(() -> met(connection, remote, error, peerTookPart, listener));
            });
  }

  /**
   * @param peerTookPart the peer has made its side
   */
  private void met(
      Connection connection,
      QueuePairAddress remote,
      Throwable error,
      boolean peerTookPart,
      ConnectListener listener) {
    if (connection.state() != Connection.State.CONNECTING) {
      if (peerTookPart) {
        tellReleased(connection); // too late for us: the peer made its side after it was told
      }
      return;
    }
    String reason = String.valueOf(error);
    if (error == null) {
      try {
        connection.queuePair().toRtr(remote, options.connection());
        connection.queuePair().toRts();
        connection.state(Connection.State.READY);
        listener.connected(connection);
        return;
      } catch (VerbsException e) {
        reason = e.getMessage();
      }
    }
    close(connection);
    listener.connectFailed(connection, reason);
  }

  /** Closes those that were not connected in time, and those that were idle for too long. */
  void expire(long nowNanos, ConnectListener listener, Consumer<Connection> notFlushed) {
    long idleNanos = TimeUnit.MILLISECONDS.toNanos(options.idleTimeoutMs());
    for (Connection connection : slots) {
      if (connection == null) {
        continue;
      }
      boolean late = nowNanos - connection.deadlineNanos() >= 0;
      if (connection.state() == Connection.State.CONNECTING && late) {
        close(connection);
        listener.connectFailed(
            connection, "not connected within " + options.connectTimeoutMs() + " ms");
      } else if (connection.state() == Connection.State.DRAINING && late) {
        notFlushed.accept(connection);
      } else if (connection.isIdle() && nowNanos - connection.lastUsedNanos() >= idleNanos) {
        counters.increment(TransferCounter.QUEUE_PAIRS_IDLE);
        close(connection);
      }
    }
  }

  /** Nothing is posted any more on a connection that broke; the caller flushes it. */
  void drain(Connection connection, long nowNanos) {
    connection.state(Connection.State.DRAINING);
    connection.deadlineNanos(nowNanos + TimeUnit.MILLISECONDS.toNanos(FLUSH_TIMEOUT_MS));
    detach(connection);
  }

  /** Destroys the queue pair: nothing is written by its READs any more. */
  void close(Connection connection) {
    if (connection.state() == Connection.State.CLOSED) {
      return;
    }
    connection.state(Connection.State.CLOSED);
    detach(connection);
    slots[connection.id() % slots.length] = null;
    connection.queuePair().close();
    counters.increment(TransferCounter.QUEUE_PAIRS_CLOSED);
    tellReleased(connection);
  }

  /** Does {@code action} for each that is not closed. */
  void forEach(Consumer<Connection> action) {
    for (Connection connection : slots) {
      if (connection != null) {
        action.accept(connection);
      }
    }
  }

  private static void detach(Connection connection) {
    if (connection.peer().connection() == connection) {
      connection.peer().connection(null);
    }
  }

  private void tellReleased(Connection connection) {
    try {
      connector.released(connection.peer().address(), connection.queuePair().qpNumber());
    } catch (RuntimeException e) {
      LOG.warn("{} could not be told of a closed queue pair", connection.peer(), e);
    }
  }

  /** An empty slot, or that of the idle connection that was not used for the longest time. */
  private int freeSlot() {
    Connection idle = null;
    for (int i = 0; i < slots.length; i++) {
      Connection connection = slots[i];
      if (connection == null) {
        return i;
      }
      if (connection.isIdle()
          && (idle == null || connection.lastUsedNanos() - idle.lastUsedNanos() < 0)) {
        idle = connection;
      }
    }
    if (idle == null) {
      return -1;
    }
    counters.increment(TransferCounter.QUEUE_PAIRS_EVICTED);
    close(idle);
    return idle.id() % slots.length;
  }

  /** A number whose remainder is the slot, other than those of the slot's last owners. */
  private int nextId(int slot) {
    generation = (generation + 1) % (Integer.MAX_VALUE / slots.length);
    return generation * slots.length + slot;
  }

  private void warnOnce() {
    if (!warned) {
      warned = true;
      LOG.warn(
          "All {} queue pairs are in use: READs from further peers wait for one, and go another"
              + " way when they wait too long. A larger maxQueuePairs avoids it.",
          slots.length);
    }
  }
}
