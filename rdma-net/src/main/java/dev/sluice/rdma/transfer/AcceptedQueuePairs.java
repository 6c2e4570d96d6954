package dev.sluice.rdma.transfer;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.VerbsException;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The queue pairs through which peers READ from this process. Any thread, in practice those of the
 * control channel; the endpoint closes it.
 *
 * <p>They allow REMOTE_READ and nothing else, never send, and so cost little more than the device's
 * context: 1,000 executors cost 1,000 of them, at the smallest queue size that there is, and no
 * thread.
 *
 * <p>This side does not see READs, so it cannot know which queue pair is idle. At the limit it
 * closes those that broke, else those of peers that left, else the oldest one that its own peer has
 * replaced, and else refuses, which sends the new peer another way; closing a queue pair in use
 * would cost its peer a timeout.
 */
final class AcceptedQueuePairs implements AutoCloseable {
  /** Nothing is posted to them. */
  private static final int DEPTH = 1;

  private record Key(String peerId, int remoteQpNumber) {
    boolean isSamePeer(Key other) {
      return peerId.equals(other.peerId);
    }
  }

  private final ProtectionDomain protectionDomain;
  private final CompletionQueue completionQueue;
  private final ConnectionAttributes attributes;
  private final int limit;
  private final TransferCounters counters;
  private final Map<Key, QueuePair> queuePairs = new LinkedHashMap<>();

  /** Those of peers that left. */
  private final Set<Key> left = new HashSet<>();

  private boolean closed;

  /**
   * @param completionQueue one that nobody polls: nothing ever completes here
   */
  AcceptedQueuePairs(
      ProtectionDomain protectionDomain,
      CompletionQueue completionQueue,
      TransferOptions options,
      TransferCounters counters) {
    this.protectionDomain = protectionDomain;
    this.completionQueue = completionQueue;
    this.attributes = options.connection();
    this.limit = options.maxQueuePairs();
    this.counters = counters;
  }

  synchronized QueuePairAddress accept(String peerId, QueuePairAddress remote)
      throws VerbsException {
    String operation = "accept(" + peerId + ", " + remote + ")";
    if (closed) {
      throw new VerbsException(operation, VerbsException.EINVAL, "the endpoint is closed");
    }
    Key key = new Key(peerId, remote.qpNumber());
    remove(key::equals); // the number was used before
    left.removeIf(key::isSamePeer);
    if (queuePairs.size() >= limit && !makeRoom()) {
      throw new VerbsException(
          operation, VerbsException.ENOMEM, "all " + limit + " queue pairs are in use");
    }
    QueuePair queuePair = protectionDomain.createQueuePair(completionQueue, DEPTH);
    try {
      queuePair.toInit(EnumSet.of(AccessFlag.REMOTE_READ));
      QueuePairAddress local = queuePair.address();
      queuePair.toRtr(remote, attributes); // which is enough to answer READs
      queuePairs.put(key, queuePair);
      counters.increment(TransferCounter.QUEUE_PAIRS_ACCEPTED);
      return local;
    } catch (VerbsException | RuntimeException e) {
      queuePair.close();
      throw e;
    }
  }

  synchronized void disconnected(String peerId, int remoteQpNumber) {
    remove(new Key(peerId, remoteQpNumber)::equals);
  }

  /** The peer may be gone: a process ends without a word to its queue pairs' other ends. */
  synchronized void peerLeft(String peerId) {
    queuePairs.keySet().stream().filter(key -> key.peerId().equals(peerId)).forEach(left::add);
  }

  synchronized void peerLost(String peerId) {
    remove(key -> key.peerId().equals(peerId));
  }

  @Override
  public synchronized void close() {
    closed = true;
    remove(key -> true);
  }

  private boolean makeRoom() {
    return remove(key -> queuePairs.get(key).state() == QueuePairState.ERROR)
        || remove(left::contains)
        || removeOldestReplaced();
  }

  private boolean removeOldestReplaced() {
    Map<String, Key> newest = new LinkedHashMap<>();
    queuePairs.keySet().forEach(key -> newest.put(key.peerId(), key));
    for (Key key : queuePairs.keySet()) {
      if (!newest.get(key.peerId()).equals(key)) {
        return remove(key::equals);
      }
    }
    return false;
  }

  private boolean remove(Predicate<Key> condition) {
    boolean removed = false;
    Iterator<Map.Entry<Key, QueuePair>> entries = queuePairs.entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry<Key, QueuePair> entry = entries.next();
      if (condition.test(entry.getKey())) {
        entries.remove();
        left.remove(entry.getKey());
        entry.getValue().close();
        removed = true;
      }
    }
    return removed;
  }
}
