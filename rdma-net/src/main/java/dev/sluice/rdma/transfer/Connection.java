// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.verbs.PostException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The send side of one queue pair: maps outstanding work requests to their reads. Engine thread
 * only; {@link Connections} creates and closes it.
 *
 * <p>The device serves READs in the order of posting. Outstanding large reads are therefore limited
 * to the bytes that keep a link busy, and a new small read waits only for these.
 *
 * <p>The upper half of a work request's id is the connection's id, the lower half its sequence
 * number. The last work request of a read and of a chain are signaled. More are signaled in
 * between, so that posting of a long read continues while half of the queue is outstanding. Work
 * requests complete in order, so a completion retires all up to its sequence number. After an error
 * the queue pair is drained when all have been retired.
 */
final class Connection {
  enum State {
    /** The attempt owns the queue pair. */
    CONNECTING,
    /** READs can be posted. */
    READY,
    /** In ERROR: waits for the completions of outstanding work requests. */
    DRAINING,
    /** Destroyed. */
    CLOSED
  }

  /** Minimum of {@link #maxLargeBytes}: the bytes that 400 Gb/s transfer in 80 us. */
  private static final long MIN_LARGE_BYTES = 4 << 20;

  private final int id;
  private final Peer peer;
  private final ConnectAttempt attempt;
  private final int maxReadBytes;

  /** Maximum outstanding bytes of large reads: at least two work requests. */
  private final long maxLargeBytes;

  /** Reads by slot; the number of slots is the queue's depth, rounded up to a power of two. */
  private ReadRequest[] ring = {};

  /** Bytes of each slot's work request if it belongs to a large read, else 0. */
  private int[] largeBytes = {};

  /** Number of work requests that the queue pair holds. */
  private int depth;

  /** Maximum unsignaled work requests in a row; with the signaled one, half of the queue. */
  private int maxSilent;

  /** Chain of the current or last post, shared with the engine's other connections. */
  private final WorkRequestChain chain;

  /** Number of unsignaled work requests at the end of the chain. */
  private int silent;

  /** Null while connecting. */
  private @Nullable QueuePair queuePair;

  private long head; // sequence number of the oldest outstanding work request
  private long tail; // sequence number of the next work request
  private long largeOutstanding;
  private State state = State.CONNECTING;
  private long deadlineNanos;
  private long lastUsedNanos;

  /** Time of the current or last post. */
  private long postNanos;

  Connection(
      int id,
      Peer peer,
      ConnectAttempt attempt,
      WorkRequestChain chain,
      int maxReadBytes,
      long nowNanos) {
    this.id = id;
    this.peer = peer;
    this.attempt = attempt;
    this.chain = chain;
    this.maxReadBytes = maxReadBytes;
    this.maxLargeBytes = Math.max(MIN_LARGE_BYTES, 2L * maxReadBytes);
    this.lastUsedNanos = nowNanos;
  }

  int id() {
    return id;
  }

  Peer peer() {
    return peer;
  }

  ConnectAttempt attempt() {
    return attempt;
  }

  /** Takes the connected queue pair: READs can be posted from now on. */
  void connected(QueuePair ready, int queueDepth) {
    queuePair = ready;
    depth = queueDepth;
    ring = new ReadRequest[Integer.highestOneBit(2 * depth - 1)];
    largeBytes = new int[ring.length];
    maxSilent = Math.max(0, depth / 2 - 1);
    state = State.READY;
  }

  QueuePair queuePair() {
    return requireNonNull(queuePair, "the queue pair is not connected");
  }

  State state() {
    return state;
  }

  void state(State next) {
    state = next;
  }

  /** Time by which connecting or draining must be done. */
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

  long postNanos() {
    return postNanos;
  }

  int outstanding() {
    return (int) (tail - head);
  }

  /** True if {@link #post} would post something. */
  boolean hasRoom() {
    return outstanding() < depth
        && (peer.firstSmall() != null
            || (largeOutstanding < maxLargeBytes && peer.firstLarge() != null));
  }

  boolean isIdle() {
    return state == State.READY && head == tail && !peer.hasWaiting();
  }

  /**
   * Posts as many of the peer's waiting work requests as there is room for, in one chain: small
   * reads first, then large ones. One work request is kept for large reads, unless it is the only
   * one and some are outstanding.
   *
   * @param limit maximum number of work requests
   * @param nowNanos the time
   * @return number of work requests posted
   * @throws PostException if one was refused; all of the chain count as outstanding
   */
  int post(int limit, long nowNanos) throws PostException {
    postNanos = nowNanos;
    chain.clear();
    silent = 0;
    int room = Math.min(limit, depth - outstanding());
    boolean large = largeOutstanding < maxLargeBytes && peer.firstLarge() != null;
    int roomForSmall = large && (room > 1 || largeOutstanding == 0) ? room - 1 : room;
    for (ReadRequest read = peer.firstSmall();
        read != null && chain.size() < roomForSmall;
        read = peer.firstSmall()) {
      while (chain.size() < roomForSmall && read.hasMore()) {
        add(read, chain.size() + 1 == room);
      }
    }
    for (ReadRequest read = peer.firstLarge();
        read != null && chain.size() < room && largeOutstanding < maxLargeBytes;
        read = peer.firstLarge()) {
      while (chain.size() < room && largeOutstanding < maxLargeBytes && read.hasMore()) {
        addLarge(read, chain.size() + 1 == room);
      }
    }
    if (chain.size() > 0) {
      queuePair().postSend(chain.requests());
    }
    return chain.size();
  }

  private void addLarge(ReadRequest read, boolean last) {
    int bytes = read.nextBytes(maxReadBytes);
    boolean toHalf =
        largeOutstanding < maxLargeBytes / 2 && largeOutstanding + bytes >= maxLargeBytes / 2;
    largeOutstanding += bytes;
    largeBytes[slot(tail)] = bytes;
    add(read, last || toHalf || largeOutstanding >= maxLargeBytes);
  }

  /**
   * @param last true if it may be the last work request of the chain
   */
  private void add(ReadRequest read, boolean last) {
    boolean signaled = last || read.isLast(maxReadBytes) || silent == maxSilent;
    silent = signaled ? 0 : silent + 1;
    ring[slot(tail)] = read;
    read.next(chain.add(), this, wrId(tail), signaled, maxReadBytes);
    tail++;
  }

  /** Sequence number of a work request of this connection; -1 if it has been retired. */
  long sequence(long wrId) {
    long sequence = head + ((int) wrId - (int) head);
    return sequence >= head && sequence < tail ? sequence : -1;
  }

  /** Sequence number of a work request of the chain that has just been posted. */
  long sequenceInChain(int index) {
    return tail - chain.size() + index;
  }

  /** Sequence number of the oldest outstanding work request. */
  long oldest() {
    return head;
  }

  /** Removes the oldest outstanding work request and returns its read. */
  ReadRequest retireOldest() {
    int slot = slot(head++);
    ReadRequest read = ring[slot];
    ring[slot] = null;
    largeOutstanding -= largeBytes[slot];
    largeBytes[slot] = 0;
    return read;
  }

  static int connectionId(long wrId) {
    return (int) (wrId >>> Integer.SIZE);
  }

  private long wrId(long sequence) {
    return ((long) id << Integer.SIZE) | (sequence & 0xFFFF_FFFFL);
  }

  private int slot(long sequence) {
    return (int) sequence & (ring.length - 1);
  }

  /**
   * The work requests of one post. All posts of an engine reuse the same objects: as many as its
   * longest chain had, 56 bytes each. Engine thread only.
   */
  static final class WorkRequestChain {
    private final List<SendWorkRequest> made = new ArrayList<>();
    private final List<SendWorkRequest> requests = new ArrayList<>();

    void clear() {
      requests.clear();
    }

    int size() {
      return requests.size();
    }

    /** Appends a work request, to be set by the caller. */
    SendWorkRequest add() {
      if (requests.size() == made.size()) {
        made.add(new SendWorkRequest());
      }
      SendWorkRequest next = made.get(requests.size());
      requests.add(next);
      return next;
    }

    List<SendWorkRequest> requests() {
      return requests;
    }
  }
}
