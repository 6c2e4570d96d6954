package dev.sluice.rdma.transfer;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.VerbsException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * The queue pairs through which peers READ from this process. Any thread, in practice those of the
 * control channel, which wait for nothing here: {@link ConnectThreads} connect and destroy them.
 * The endpoint closes it.
 *
 * <p>They allow REMOTE_READ and nothing else, never send, and so cost little more than the device's
 * context: 1,000 executors cost 1,000 of them, at the smallest queue size that there is, and no
 * thread.
 *
 * <p>This side does not see READs, so it cannot know which queue pair is idle; peers close theirs
 * when they are, and say so. At the limit it closes those that are known to have broken, else those
 * of peers that left, else the oldest one that its own peer has replaced, and else refuses, which
 * sends the new peer another way; closing a queue pair in use would cost its peer a timeout.
 */
final class AcceptedQueuePairs implements AutoCloseable {
  /** Nothing is posted to them. */
  private static final int DEPTH = 1;

  private static final long ASKING_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private record Key(String peerId, int remoteQpNumber) {
    boolean isSamePeer(Key other) {
      return peerId.equals(other.peerId);
    }
  }

  /** A queue pair, or the place of one that is being connected. */
  private static final class Slot {
    /** Of the thread that connects it, until it is connected. */
    private QueuePair queuePair;

    private boolean connected;
  }

  private final ProtectionDomain protectionDomain;
  private final CompletionQueue completionQueue;
  private final ConnectionAttributes attributes;
  private final int limit;
  private final TransferCounters counters;
  private final Executor threads;
  private final Map<Key, Slot> slots = new LinkedHashMap<>();

  /** Those of peers that left. */
  private final Set<Key> left = new HashSet<>();

  private long nextAskingNanos = System.nanoTime();
  private boolean closed;

  /**
   * @param completionQueue one that nobody polls: nothing ever completes here
   * @param threads where queue pairs are created, connected and destroyed
   */
  AcceptedQueuePairs(
      ProtectionDomain protectionDomain,
      CompletionQueue completionQueue,
      TransferOptions options,
      TransferCounters counters,
      Executor threads) {
    this.protectionDomain = protectionDomain;
    this.completionQueue = completionQueue;
    this.attributes = options.connection();
    this.limit = options.maxQueuePairs();
    this.counters = counters;
    this.threads = threads;
  }

  /**
   * A queue pair that is connected to {@code remote}. Never blocks; what comes of one peer's
   * request does not depend on another's address.
   *
   * @return fails with a VerbsException: ENOMEM at the limit, EINVAL when the peer gave it up
   *     meanwhile
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
    } catch (VerbsException | RuntimeException | Error e) { // also where there is no thread for it
      fail(result, e, key, slot);
    }
    return result;
  }

  /** The peer waits for an answer, whatever becomes of the queue pair. */
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
    slot.queuePair = protectionDomain.createQueuePair(completionQueue, DEPTH);
    slot.queuePair.toInit(EnumSet.of(AccessFlag.REMOTE_READ));
    QueuePairAddress local = slot.queuePair.address();
    slot.queuePair.toRtr(remote, attributes); // which is enough to answer READs
    if (!connected(key, slot)) {
      throw new VerbsException(operation, VerbsException.EINVAL, "nobody waits for it any more");
    }
    counters.increment(TransferCounter.QUEUE_PAIRS_ACCEPTED);
    return local;
  }

  /**
   * @return what had to go for it
   */
  private synchronized List<QueuePair> reserve(String operation, Key key, Slot slot)
      throws VerbsException {
    if (closed) {
      throw new VerbsException(operation, VerbsException.EINVAL, "the endpoint is closed");
    }
    List<QueuePair> removed = remove(key::equals); // the number was used before
    left.removeIf(key::isSamePeer);
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

  /**
   * @return false when it was removed while it was being connected
   */
  private synchronized boolean connected(Key key, Slot slot) {
    slot.connected = slots.get(key) == slot;
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

  /** The peer may be gone: a process ends without a word to its queue pairs' other ends. */
  synchronized void peerLeft(String peerId) {
    slots.keySet().stream().filter(key -> key.peerId().equals(peerId)).forEach(left::add);
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
    List<QueuePair> room =
        remove(key -> slots.get(key).connected && slots.get(key).queuePair.hasFailed());
    if (room.isEmpty()) {
      room = remove(left::contains);
    }
    return room.isEmpty() ? removeOldestReplaced() : room;
  }

  /**
   * Looks for those that broke without a word, for the next one that wants room: hundreds of
   * commands of the device, so not now, and not often.
   */
  private void askLater() {
    long now = System.nanoTime();
    if (now - nextAskingNanos >= 0) {
      nextAskingNanos = now + ASKING_PAUSE_NANOS;
      threads.execute(this::ask);
    }
  }

  private void ask() {
    Map<Key, Slot> asked;
    synchronized (this) {
      asked = new LinkedHashMap<>(slots);
    }
    asked.values().removeIf(slot -> !slot.connected);
    asked.values().removeIf(slot -> slot.queuePair.state() != QueuePairState.ERROR);
    close(key -> asked.containsKey(key) && slots.get(key) == asked.get(key));
  }

  private List<QueuePair> removeOldestReplaced() {
    Map<String, Key> newest = new LinkedHashMap<>();
    slots.keySet().forEach(key -> newest.put(key.peerId(), key));
    for (Key key : slots.keySet()) {
      if (!newest.get(key.peerId()).equals(key)) {
        return remove(key::equals);
      }
    }
    return new ArrayList<>();
  }

  /**
   * @return those of them that are connected: the others are closed by who connects them
   */
  private List<QueuePair> remove(Predicate<Key> condition) {
    List<QueuePair> removed = new ArrayList<>();
    for (Key key : List.copyOf(slots.keySet())) {
      if (condition.test(key)) {
        Slot slot = slots.remove(key);
        left.remove(key);
        if (slot.connected) {
          removed.add(slot.queuePair);
        }
      }
    }
    return removed;
  }
}
