package dev.sluice.rdma.transfer;

import dev.sluice.rdma.PostException;
import dev.sluice.rdma.QueuePair;

/**
 * The send side of one queue pair: which reads its outstanding work requests belong to. Engine
 * thread only; {@link Connections} creates and closes it.
 *
 * <p>What is posted is READ in its order: so no more is posted of large reads than keeps a link
 * busy, and small ones that come wait for that alone.
 *
 * <p>A work request's id is the connection's id in the upper half and its sequence number in the
 * lower. Signaled are the last work request of a read, the last of a chain, and enough between that
 * a long read is posted on while half of the queue is under way. Work requests complete in order,
 * so a completion retires all up to its sequence number, and after an error the queue pair is
 * drained when all have been retired.
 */
final class Connection {
  enum State {
    /** The attempt has its queue pair. */
    CONNECTING,
    /** READs can be posted. */
    READY,
    /** In ERROR: waits for the completions of what is outstanding. */
    DRAINING,
    /** Destroyed. */
    CLOSED
  }

  /** What 400 Gb/s bring in 80 us; two work requests at least. */
  private static final long MIN_LARGE_BYTES = 4 << 20;

  private final int id;
  private final Peer peer;
  private final ConnectAttempt attempt;
  private final int maxReadBytes;

  /** Posted of large reads at most. */
  private final long maxLargeBytes;

  /** Of a power of two slots, at least as many as the queue has. */
  private ReadRequest[] ring = {};

  /** Bytes of each of these that belongs to a large read. */
  private int[] largeBytes = {};

  /** Work requests that the queue pair holds. */
  private int depth;

  /** Unsignaled work requests in a row at most: half of the queue, with the signaled one. */
  private int maxSilent;

  /** What is posted, or was last; the engine's other connections use it, too. */
  private final Chain chain;

  /** Unsignaled work requests at the end of the chain. */
  private int silent;

  /** Null while it is connecting. */
  private QueuePair queuePair;

  private long head; // sequence number of the oldest outstanding work request
  private long tail; // sequence number of the next work request
  private long largeOutstanding;
  private State state = State.CONNECTING;
  private long deadlineNanos;
  private long lastUsedNanos;

  Connection(
      int id, Peer peer, ConnectAttempt attempt, Chain chain, int maxReadBytes, long nowNanos) {
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

  /** READs can be posted from now on. */
  void connected(QueuePair ready, int queueDepth) {
    queuePair = ready;
    depth = queueDepth;
    ring = new ReadRequest[Integer.highestOneBit(2 * depth - 1)];
    largeBytes = new int[ring.length];
    maxSilent = Math.max(0, depth / 2 - 1);
    state = State.READY;
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

  /** Whether {@link #post} would post something. */
  boolean hasRoomFor(WaitingReads waiting) {
    return outstanding() < depth
        && (waiting.firstSmall() != null
            || (largeOutstanding < maxLargeBytes && waiting.firstLarge() != null));
  }

  boolean isIdle() {
    return state == State.READY && head == tail && peer.waiting().isEmpty();
  }

  /**
   * Posts of the waiting reads what there is room for, in one chain: all small ones but for one
   * work request, and then of large ones.
   *
   * @param limit work requests at most
   * @return work requests posted
   * @throws PostException when one was refused; all of the chain count as outstanding
   */
  int post(WaitingReads waiting, int limit) throws PostException {
    chain.clear();
    silent = 0;
    int room = Math.min(limit, depth - outstanding());
    boolean large = largeOutstanding < maxLargeBytes && waiting.firstLarge() != null;
    int roomForSmall = large && (room > 1 || largeOutstanding == 0) ? room - 1 : room;
    for (ReadRequest read = waiting.firstSmall();
        read != null && chain.size() < roomForSmall;
        read = waiting.firstSmall()) {
      while (chain.size() < roomForSmall && read.hasMore()) {
        add(read, chain.size() + 1 == room);
      }
    }
    for (ReadRequest read = waiting.firstLarge();
        read != null && chain.size() < room && largeOutstanding < maxLargeBytes;
        read = waiting.firstLarge()) {
      while (chain.size() < room && largeOutstanding < maxLargeBytes && read.hasMore()) {
        addLarge(read, chain.size() + 1 == room);
      }
    }
    if (chain.size() > 0) {
      queuePair.postSend(chain.requests());
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
   * @param last whether it may be the last of the chain
   */
  private void add(ReadRequest read, boolean last) {
    boolean signaled = last || read.isLast(maxReadBytes) || silent == maxSilent;
    silent = signaled ? 0 : silent + 1;
    ring[slot(tail)] = read;
    read.next(chain.add(), this, wrId(tail), signaled, maxReadBytes);
    tail++;
  }

  /** The sequence number of a work request of this connection; -1 when it was retired before. */
  long sequence(long wrId) {
    long sequence = head + ((int) wrId - (int) head);
    return sequence >= head && sequence < tail ? sequence : -1;
  }

  /** The sequence number of a work request of the chain that has just been posted. */
  long sequenceInChain(int index) {
    return tail - chain.size() + index;
  }

  /** The sequence number of the oldest outstanding work request. */
  long oldest() {
    return head;
  }

  /** Takes the oldest outstanding work request off and returns its read. */
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
}
