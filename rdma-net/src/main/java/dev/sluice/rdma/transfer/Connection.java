package dev.sluice.rdma.transfer;

import dev.sluice.rdma.PostException;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.SendWorkRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/**
 * The send side of one queue pair: which reads its outstanding work requests belong to. Engine
 * thread only; {@link Connections} creates and closes it.
 *
 * <p>A work request's id is the connection's id in the upper half and its sequence number in the
 * lower. Signaled are the last work request of a read, the last of a chain, and enough between that
 * a long read is posted on while half of the queue is under way. Work requests complete in order,
 * so a completion retires all up to its sequence number, and after an error the queue pair is
 * drained when all have been retired.
 */
final class Connection {
  enum State {
    /** Its parameters are being exchanged. */
    CONNECTING,
    /** READs can be posted. */
    READY,
    /** In ERROR: waits for the completions of what is outstanding. */
    DRAINING,
    /** Destroyed. */
    CLOSED
  }

  private final int id;
  private final Peer peer;
  private final QueuePair queuePair;
  private final int maxReadBytes;
  private final PendingRead[] ring;

  /** Unsignaled work requests in a row at most: half of the ring, with the signaled one. */
  private final int maxSilent;

  private final List<SendWorkRequest> chain;
  private long head; // sequence number of the oldest outstanding work request
  private long tail; // sequence number of the next work request
  private State state = State.CONNECTING;
  private long deadlineNanos;
  private long lastUsedNanos;

  Connection(int id, Peer peer, QueuePair queuePair, int depth, int maxReadBytes, long nowNanos) {
    this.id = id;
    this.peer = peer;
    this.queuePair = queuePair;
    this.maxReadBytes = maxReadBytes;
    this.ring = new PendingRead[depth];
    this.maxSilent = Math.max(0, depth / 2 - 1);
    this.chain = new ArrayList<>(depth);
    this.lastUsedNanos = nowNanos;
  }

  int id() {
    return id;
  }

  Peer peer() {
    return peer;
  }

  QueuePair queuePair() {
    return queuePair;
  }

  State state() {
    return state;
  }

  void state(State next) {
    state = next;
  }

  /** When connecting or draining must be done. */
  long deadlineNanos() {
    return deadlineNanos;
  }

  void deadlineNanos(long deadline) {
    deadlineNanos = deadline;
  }

  long lastUsedNanos() {
    return lastUsedNanos;
  }

  void used(long nowNanos) {
    lastUsedNanos = nowNanos;
  }

  int outstanding() {
    return (int) (tail - head);
  }

  boolean hasRoom() {
    return outstanding() < ring.length;
  }

  boolean isIdle() {
    return state == State.READY && head == tail && peer.waiting().isEmpty();
  }

  /**
   * Posts the first of the waiting reads as far as there is room, in one chain.
   *
   * @param limit work requests at most
   * @return work requests posted
   * @throws PostException when one was refused; all of the chain count as outstanding
   */
  int post(Queue<PendingRead> waiting, int limit) throws PostException {
    chain.clear();
    int room = Math.min(limit, ring.length - outstanding());
    int silent = 0;
    while (chain.size() < room && !waiting.isEmpty()) {
      PendingRead read = waiting.peek();
      if (read.isAnswered()) {
        waiting.remove();
        continue;
      }
      while (chain.size() < room && read.hasMore()) {
        boolean signaled =
            chain.size() + 1 == room || read.isLast(maxReadBytes) || silent == maxSilent;
        silent = signaled ? 0 : silent + 1;
        ring[slot(tail)] = read;
        chain.add(read.next(this, wrId(tail), signaled, maxReadBytes));
        tail++;
      }
      if (!read.hasMore()) {
        waiting.remove();
      }
    }
    if (!chain.isEmpty()) {
      queuePair.postSend(chain);
    }
    return chain.size();
  }

  /** The sequence number of a work request of this connection; -1 when it was retired before. */
  long sequence(long wrId) {
    long sequence = head + ((int) wrId - (int) head);
    return sequence >= head && sequence < tail ? sequence : -1;
  }

  /** The sequence number of a work request of the last chain. */
  long sequenceInChain(int index) {
    return tail - chain.size() + index;
  }

  /** The sequence number of the oldest outstanding work request. */
  long oldest() {
    return head;
  }

  /** Takes the oldest outstanding work request off and returns its read. */
  PendingRead retireOldest() {
    int slot = slot(head++);
    PendingRead read = ring[slot];
    ring[slot] = null;
    return read;
  }

  static int connectionId(long wrId) {
    return (int) (wrId >>> Integer.SIZE);
  }

  private long wrId(long sequence) {
    return ((long) id << Integer.SIZE) | (sequence & 0xFFFF_FFFFL);
  }

  private int slot(long sequence) {
    return (int) (sequence % ring.length);
  }
}
