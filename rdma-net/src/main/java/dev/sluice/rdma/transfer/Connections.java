// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.TaskFailures;
import dev.sluice.rdma.transfer.Connection.WorkRequestChain;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queue pairs through which this process READs: starts to connect, evicts and closes them.
 * {@link RdmaEndpoint} creates it for its {@link ReadEngine}. Engine thread only, which never waits
 * for a device here, except to destroy a queue pair with outstanding READs. The {@link ReadEngine}
 * destroys each connection when it closes; nothing else is to close.
 *
 * <p>Each peer has one queue pair. It is created for the first READ, and closed after the idle
 * timeout or, at the limit, when another peer needs one. With 1,000 executors that all READ from
 * one another, a process has 1,000 of these and 1,000 accepted ones. With a depth of 256, each
 * costs 16 KiB of pinned send queue ({@link TransferOptions#queuePairBytes}) and 3 KiB of heap: 19
 * MB in all.
 */
final class Connections {
  private static final Logger LOG = LoggerFactory.getLogger(Connections.class);

  /** After this time, unflushed READs are given up. A queue pair flushes at once or not at all. */
  private static final long FLUSH_TIMEOUT_MS = 5_000;

  private final ConnectAttempt.Setup setup;
  private final TransferOptions options;
  private final Counters<TransferCounter> counters;
  private final Executor engine;
  private final Connection[] slots;
  private final WorkRequestChain chain = new WorkRequestChain();

  /** Work requests of a send queue: the configured number, at most the device's limit. */
  private final int depth;

  private final int maxReadBytes;
  private int generation;
  private boolean warned;

  /**
   * @param engine runs tasks on the engine's thread
   */
  Connections(ConnectAttempt.Setup setup, Executor engine) {
    this.setup = setup;
    this.engine = engine;
    options = setup.options();
    counters = setup.counters();
    DeviceAttributes device = setup.protectionDomain().device().attributes();
    slots = new Connection[Math.min(options.maxQueuePairs(), device.maxQueuePairs())];
    depth = Math.min(options.sendQueueDepth(), device.maxQueuePairWr());
    maxReadBytes = (int) Math.min(options.maxReadBytes(), device.maxMessageSize());
  }

  /** Returns the connection of a work request; null if it is closed. */
  @Nullable Connection of(long wrId) {
    int id = Connection.connectionId(wrId);
    Connection connection = slots[id % slots.length];
    return connection != null && connection.id() == id ? connection : null;
  }

  /**
   * Starts to connect a queue pair.
   *
   * @param listener told when READs can be posted, or of the failure
   * @return null if the limit is reached and no queue pair is idle
   */
  @Nullable Connection open(Peer peer, long nowNanos, ConnectListener listener) {
    int slot = freeSlot();
    if (slot < 0) {
      warnOnce();
      return null;
    }
    Outcome outcome = new Outcome(listener);
    ConnectAttempt attempt = new ConnectAttempt(peer.address(), setup, outcome);
    Connection connection =
        new Connection(nextId(slot), peer, attempt, chain, maxReadBytes, nowNanos);
    outcome.connection = connection;
    connection.deadlineNanos(nowNanos + TimeUnit.MILLISECONDS.toNanos(options.connectTimeoutMs()));
    slots[slot] = connection;
    attempt.start(depth);
    return connection;
  }

  /** Outcome of an attempt to connect. Not called if the connection is closed before. */
  interface ConnectListener {
    void connected(Connection connection);

    void connectFailed(Connection connection, String reason);

    /** This side's device cannot create a queue pair, whatever the peer. */
    void connectRefused(Connection connection, String reason);
  }

  /** Brings the outcome of an attempt to the engine's thread. */
  private final class Outcome implements ConnectAttempt.Outcome {
    private final ConnectListener listener;

    /** Set before the attempt starts. */
    @SuppressWarnings("NullAway.Init")
    private Connection connection;

    Outcome(ConnectListener listener) {
      this.listener = listener;
    }

    @Override
    public void connected(QueuePair queuePair) {
      engine.execute(
          () -> {
            if (connection.state() == Connection.State.CONNECTING) {
              connection.connected(queuePair, depth);
              listener.connected(connection);
            } else {
              setup.threads().execute(() -> setup.destroy(connection.peer().address(), queuePair));
            }
          });
    }

    @Override
    public void failed(String reason) {
      end(() -> listener.connectFailed(connection, reason));
    }

    @Override
    public void refused(String reason) {
      end(() -> listener.connectRefused(connection, reason));
    }

    private void end(Runnable tell) {
      engine.execute(
          () -> {
            if (connection.state() == Connection.State.CONNECTING) {
              close(connection);
              tell.run();
            }
          });
    }
  }

  /**
   * Closes connections that were not connected in time or were idle for too long.
   *
   * @param notFlushed takes connections that did not flush in time
   * @return number of connections
   */
  int expire(long nowNanos, ConnectListener listener, Consumer<Connection> notFlushed) {
    long idleNanos = TimeUnit.MILLISECONDS.toNanos(options.idleTimeoutMs());
    int count = 0;
    for (Connection connection : slots) {
      if (connection != null) {
        count++;
        try {
          expire(connection, nowNanos, idleNanos, listener, notFlushed);
        } catch (RuntimeException | Error e) {
          logFailure(connection, e);
        }
      }
    }
    return count;
  }

  private void expire(
      Connection connection,
      long nowNanos,
      long idleNanos,
      ConnectListener listener,
      Consumer<Connection> notFlushed) {
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

  private static void logFailure(Connection connection, Throwable e) {
    TaskFailures.log(LOG, "Closing a queue pair to {} failed", connection.peer(), e);
  }

  /** Stops posting on a connection that broke. The caller flushes it. */
  void drain(Connection connection, long nowNanos) {
    connection.state(Connection.State.DRAINING);
    connection.deadlineNanos(nowNanos + TimeUnit.MILLISECONDS.toNanos(FLUSH_TIMEOUT_MS));
    detach(connection);
  }

  /**
   * Closes the connection. Without outstanding READs, its queue pair is destroyed later on another
   * thread, since that is a device command.
   *
   * @return false if the device refused to destroy it, so that its READs may still write
   */
  boolean close(Connection connection) {
    Connection.State before = connection.state();
    if (before == Connection.State.CLOSED) {
      return true;
    }
    connection.state(Connection.State.CLOSED);
    detach(connection);
    slots[connection.id() % slots.length] = null;
    if (before == Connection.State.CONNECTING) {
      connection.attempt().callOff();
    } else if (connection.outstanding() > 0) {
      destroy(connection);
      return connection.queuePair().isDestroyed();
    } else {
      setup.threads().execute(() -> destroy(connection));
    }
    return true;
  }

  private void destroy(Connection connection) {
    setup.destroy(connection.peer().address(), connection.queuePair());
  }

  /** Calls the action for each open connection. If a call throws, the exception is logged. */
  void forEach(Consumer<Connection> action) {
    for (Connection connection : slots) {
      if (connection != null) {
        try {
          action.accept(connection);
        } catch (RuntimeException | Error e) {
          logFailure(connection, e);
        }
      }
    }
  }

  private static void detach(Connection connection) {
    if (connection.peer().connection() == connection) {
      connection.peer().connection(null);
    }
  }

  /** Returns an empty slot, else evicts the connection that is idle for longest; -1 if none is. */
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

  /** Returns an id whose remainder is the slot, and that the slot's last owners did not have. */
  private int nextId(int slot) {
    generation = (generation + 1) % (Integer.MAX_VALUE / slots.length);
    return generation * slots.length + slot;
  }

  private void warnOnce() {
    if (!warned) {
      warned = true;
      LOG.warn(
          "All {} queue pairs are in use: READs from other peers wait for one, and their blocks"
              + " fall back when they wait too long. A larger connections.max avoids this, as"
              + " far as the device allows it.",
          slots.length);
    }
  }
}
