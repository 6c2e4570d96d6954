// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.verbs.VerbsException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Queue pairs through which peers READ from this process. Any thread, in practice the control
 * channel's threads, which never wait here: threads {@code sluice-connect} connect and destroy the
 * queue pairs. The {@link RdmaEndpoint} creates and closes it. All fields that change are guarded
 * by this; private methods that remove slots or make room need the lock. Device commands run
 * without it.
 *
 * <p>The queue pairs allow REMOTE_READ only and never send, so each costs little more than the
 * device's context. 1,000 executors cost 1,000 queue pairs of the smallest queue size, and no
 * thread.
 *
 * <p>This side does not see READs, so it cannot know which queue pairs are idle. Peers close their
 * idle ones and tell this side. A peer that left and does not return within {@link
 * #GONE_AFTER_SECONDS} loses its queue pairs: its process ended without a message. At the limit,
 * this class closes queue pairs that are known to be broken. If there are none, it closes those of
 * peers that left, else the oldest one that its peer has replaced. Otherwise it refuses, and the
 * new peer uses another path. Closing a queue pair in use costs its peer a timeout and a new
 * connection.
 */
final class AcceptedQueuePairs implements AutoCloseable {
  /** Nothing is posted to them. */
  private static final int DEPTH = 1;

  /** A peer that still READs sends a message every 10 s, over a new connection if necessary. */
  static final long GONE_AFTER_SECONDS = 30;

  /** Minimum pause between two searches for broken queue pairs ({@link #askLater}). */
  private static final long ASKING_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private record Key(String peerId, int remoteQpNumber) {
    boolean isSamePeer(Key other) {
      return peerId.equals(other.peerId);
    }
  }

  /** A queue pair, or the reservation for a queue pair that is being connected. */
  private static final class Slot {
    /** Owned by the thread that connects it, until it is connected; null before it is created. */
    private @Nullable QueuePair queuePair;

    private boolean connected;

    boolean hasFailed() {
      return connected && requireNonNull(queuePair).hasFailed();
    }
  }

  private final ProtectionDomain protectionDomain;
  private final CompletionQueue completionQueue;
  private final ConnectionAttributes attributes;
  private final int limit;
  private final Counters<TransferCounter> counters;
  private final Executor threads;
  private final Map<Key, Slot> slots = new LinkedHashMap<>();

  /** Queue pairs of peers that left, each with an object that identifies the departure. */
  private final Map<Key, Object> left = new HashMap<>();

  /** Runs tasks after the time that makes a departed peer count as gone. */
  private final Executor whenGone;

  private long nextAskingNanos = System.nanoTime();
  private boolean closed;

  /**
   * @param completionQueue a queue that is never polled, since nothing completes here
   * @param threads create, connect and destroy queue pairs
   */
  AcceptedQueuePairs(
      ProtectionDomain protectionDomain,
      CompletionQueue completionQueue,
      TransferOptions options,
      Counters<TransferCounter> counters,
      Executor threads) {
    this(
        protectionDomain,
        completionQueue,
        options,
        counters,
        threads,
        CompletableFuture.delayedExecutor(GONE_AFTER_SECONDS, TimeUnit.SECONDS, threads));
  }

  /**
   * @param whenGone runs tasks after {@link #GONE_AFTER_SECONDS}
   */
  AcceptedQueuePairs(
      ProtectionDomain protectionDomain,
      CompletionQueue completionQueue,
      TransferOptions options,
      Counters<TransferCounter> counters,
      Executor threads,
      Executor whenGone) {
    this.protectionDomain = protectionDomain;
    this.completionQueue = completionQueue;
    this.attributes = options.connection();
    this.limit = options.maxQueuePairs();
    this.counters = counters;
    this.threads = threads;
    this.whenGone = whenGone;
  }

  /**
   * Creates a queue pair and connects it to {@code remote}. Never blocks. An unreachable address of
   * one peer does not affect another's request.
   *
   * @return fails with a VerbsException: ENOMEM at the limit, EINVAL if the peer gave the queue
   *     pair up meanwhile
   */
  CompletableFuture<QueuePairAddress> accept(String peerId, QueuePairAddress remote) {
    String operation = "accept(" + peerId + ", " + remote + ")";
    Key key = new Key(peerId, remote.qpNumber());
    Slot slot = new Slot();
    CompletableFuture<QueuePairAddress> result = new CompletableFuture<>();
    try {
      destroy(reserve(operation, key, slot));
      threads.execute(
          () -> {
            try {
              result.complete(connect(operation, key, slot, remote));
            } catch (VerbsException | RuntimeException | Error e) {
              fail(result, e, key, slot);
            }
          });
    } catch (VerbsException | RuntimeException | Error e) { // Also if there is no thread for it.
      fail(result, e, key, slot);
    }
    return result;
  }

  /** Answers the peer, whatever happens to the queue pair. */
  private void fail(
      CompletableFuture<QueuePairAddress> result, Throwable failure, Key key, Slot slot) {
    try {
      abandon(key, slot);
    } finally {
      result.completeExceptionally(failure);
    }
  }

  private QueuePairAddress connect(String operation, Key key, Slot slot, QueuePairAddress remote)
      throws VerbsException {
    if (!isReserved(key, slot)) { // The protection domain may be closed.
      throw withdrawn(operation);
    }
    slot.queuePair = protectionDomain.createQueuePair(completionQueue, DEPTH);
    slot.queuePair.toInit(EnumSet.of(AccessFlag.REMOTE_READ));
    slot.queuePair.toRtr(remote, attributes); // RTR is enough to answer READs.
    QueuePairAddress local = slot.queuePair.address();
    if (!connected(key, slot)) {
      throw withdrawn(operation);
    }
    counters.increment(TransferCounter.QUEUE_PAIRS_ACCEPTED);
    return local;
  }

  private static VerbsException withdrawn(String operation) {
    return new VerbsException(
        operation, VerbsException.EINVAL, "the request was withdrawn meanwhile");
  }

  /**
   * @return queue pairs that were removed to make room
   */
  private synchronized List<QueuePair> reserve(String operation, Key key, Slot slot)
      throws VerbsException {
    if (closed) {
      throw new VerbsException(operation, VerbsException.EINVAL, "the endpoint is closed");
    }
    List<QueuePair> removed = remove(key::equals); // The peer used the number before.
    left.keySet().removeIf(key::isSamePeer);
    if (slots.size() >= limit) {
      removed.addAll(makeRoom());
    }
    if (slots.size() >= limit) {
      askLater();
      throw new VerbsException(
          operation, VerbsException.ENOMEM, "all " + limit + " queue pairs are in use");
    }
    slots.put(key, slot);
    return removed;
  }

  private synchronized boolean isReserved(Key key, Slot slot) {
    return slots.get(key) == slot;
  }

  /**
   * @return false if the slot was removed while it was being connected
   */
  private synchronized boolean connected(Key key, Slot slot) {
    slot.connected = isReserved(key, slot);
    if (slot.connected) {
      counters.increment(TransferCounter.QUEUE_PAIRS_SERVING);
    }
    return slot.connected;
  }

  private void abandon(Key key, Slot slot) {
    synchronized (this) {
      slots.remove(key, slot);
    }
    if (slot.queuePair != null) {
      slot.queuePair.close();
    }
  }

  void disconnected(String peerId, int remoteQpNumber) {
    close(new Key(peerId, remoteQpNumber)::equals);
  }

  /**
   * Starts the timeout of a peer that may be gone: a process that ends sends no message to its
   * peers' queue pairs. They are closed if the peer does not return in time.
   */
  void peerLeft(String peerId) {
    Object departure = new Object();
    synchronized (this) {
      slots.keySet().stream()
          .filter(key -> key.peerId().equals(peerId))
          .forEach(key -> left.put(key, departure));
      if (!left.containsValue(departure)) {
        return;
      }
    }
    whenGone.execute(() -> close(key -> left.get(key) == departure));
  }

  synchronized void peerReturned(String peerId) {
    left.keySet().removeIf(key -> key.peerId().equals(peerId));
  }

  void peerLost(String peerId) {
    close(key -> key.peerId().equals(peerId));
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    close(key -> true);
  }

  private void close(Predicate<Key> condition) {
    List<QueuePair> removed;
    synchronized (this) {
      removed = remove(condition);
    }
    destroy(removed);
  }

  private void destroy(List<QueuePair> removed) {
    removed.forEach(queuePair -> threads.execute(queuePair::close));
  }

  private List<QueuePair> makeRoom() {
    List<QueuePair> room = remove(key -> requireNonNull(slots.get(key)).hasFailed());
    if (room.isEmpty()) {
      room = remove(left::containsKey);
    }
    return room.isEmpty() ? removeOldestReplaced() : room;
  }

  /**
   * Searches for queue pairs that broke without an event, to make room for the next request. This
   * takes hundreds of device commands, so it runs later and rarely.
   */
  private void askLater() {
    long now = System.nanoTime();
    if (now - nextAskingNanos >= 0) {
      nextAskingNanos = now + ASKING_PAUSE_NANOS;
      threads.execute(this::ask);
    }
  }

  private void ask() {
    Map<Slot, QueuePair> asked = new LinkedHashMap<>();
    synchronized (this) {
      slots.values().stream()
          .filter(slot -> slot.connected)
          .forEach(slot -> asked.put(slot, slot.queuePair));
    }
    asked.values().removeIf(queuePair -> queuePair.state() != QueuePairState.ERROR);
    close(key -> asked.containsKey(slots.get(key)));
  }

  private List<QueuePair> removeOldestReplaced() {
    Map<String, Key> newest = new LinkedHashMap<>();
    slots.keySet().forEach(key -> newest.put(key.peerId(), key));
    for (Key key : slots.keySet()) {
      if (!key.equals(newest.get(key.peerId()))) {
        return remove(key::equals);
      }
    }
    return new ArrayList<>();
  }

  /**
   * @return the removed queue pairs that were connected; the connecting thread closes the others
   */
  private List<QueuePair> remove(Predicate<Key> condition) {
    List<QueuePair> removed = new ArrayList<>();
    for (Key key : List.copyOf(slots.keySet())) {
      if (condition.test(key)) {
        Slot slot = requireNonNull(slots.remove(key));
        left.remove(key);
        if (slot.connected) {
          removed.add(requireNonNull(slot.queuePair));
          counters.add(TransferCounter.QUEUE_PAIRS_SERVING, -1);
        }
      }
    }
    return removed;
  }
}
