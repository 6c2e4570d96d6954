package dev.sluice.rdma.transfer;

import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.QueuePair;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queue pairs by which this process READs: has them connected, evicts and closes them. Engine
 * thread only, which waits for no device here; the engine closes it.
 *
 * <p>One queue pair a peer, created when the first READ wants it, closed when it was idle for long
 * or, at the limit, when another peer wants one. At 1,000 executors that all READ from one another
 * a process has 1,000 of these and 1,000 accepted ones; with a depth of 256 each costs up to 64 KiB
 * of pinned send queue ({@link TransferOptions#queuePairBytes}) and 3 KiB of heap: 64 MB in all.
 */
final class Connections {
  private static final Logger LOG = LoggerFactory.getLogger(Connections.class);

  /** A queue pair that flushes at all does so at once; whatever this waits for is lost. */
  private static final long FLUSH_TIMEOUT_MS = 5_000;

  private final ConnectAttempt.Setup setup;
  private final TransferOptions options;
  private final TransferCounters counters;
  private final Executor engine;
  private final Connection[] slots;
  private final Chain chain = new Chain();

  /**
   * Work requests of a send queue: as many as is asked for, or as the device turned out to have.
   */
  private volatile int depth;

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

  /** The connection that a work request belongs to; null when it is closed. */
  Connection of(long wrId) {
    int id = Connection.connectionId(wrId);
    Connection connection = slots[id % slots.length];
    return connection != null && connection.id() == id ? connection : null;
  }

  /**
   * Starts to connect a queue pair.
   *
   * @param listener told of the connection when READs can be posted, or of the failure
   * @return null when the limit is reached and none is idle
   */
  Connection open(Peer peer, long nowNanos, ConnectListener listener) {
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
    attempt.start(outcome.queueDepth);
    return connection;
  }

  /** How an attempt to connect ends, unless the connection is closed before. */
  interface ConnectListener {
    void connected(Connection connection);

    void connectFailed(Connection connection, String reason);

    /** This side's device has no queue pair for any peer. */
    void connectRefused(Connection connection, String reason);
  }

  /** Brings what came of an attempt onto the engine's thread. */
  private final class Outcome implements ConnectAttempt.Outcome {
    private final ConnectListener listener;
    private Connection connection;

    /** Of the attempt's queue pair, on its threads. */
    private volatile int queueDepth = depth;

    Outcome(ConnectListener listener) {
      this.listener = listener;
    }

    @Override
    public void cut(int shallower) {
      queueDepth = Math.min(queueDepth, shallower);
      if (shallower < depth) {
        depth = shallower;
        LOG.info("The device has send queues of {} READs at most, not of more", shallower);
      }
    }

    @Override
    public void connected(QueuePair queuePair) {
      engine.execute(
          () -> {
            if (connection.state() == Connection.State.CONNECTING) {
              connection.connected(queuePair, queueDepth);
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
   * Closes those that were not connected in time, and those that were idle for too long.
   *
   * @return how many there are
   */
  int expire(long nowNanos, ConnectListener listener, Consumer<Connection> notFlushed) {
    long idleNanos = TimeUnit.MILLISECONDS.toNanos(options.idleTimeoutMs());
    int count = 0;
    for (Connection connection : slots) {
      if (connection == null) {
        continue;
      }
      count++;
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
    return count;
  }

  /** Nothing is posted any more on a connection that broke; the caller flushes it. */
  void drain(Connection connection, long nowNanos) {
    connection.state(Connection.State.DRAINING);
    connection.deadlineNanos(nowNanos + TimeUnit.MILLISECONDS.toNanos(FLUSH_TIMEOUT_MS));
    detach(connection);
  }

  /**
   * Destroys the queue pair. One without READs is destroyed later, as that is a command of the
   * device.
   *
   * @return whether nothing is written by its READs any more; false when the device refused
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
