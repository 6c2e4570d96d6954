package dev.sluice.rdma.transfer;

import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.PostException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.rdma.transfer.ReadException.Cause;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs from many peers, each over one queue pair: posts in batches, polls, answers, and decides
 * what to do about failures.
 *
 * <p>Any thread submits; all else happens in {@link #doWork}, which one thread calls: {@link
 * ReadThread}, or a test by hand. That thread also calls {@link #close}, after which everything was
 * answered and every queue pair is destroyed.
 *
 * <p>What becomes of a read whose work request fails is decided in {@link Recovery}; a deadline
 * answers the read at once and flushes its queue pair. Where the device itself fails, every read
 * fails, then and later.
 */
final class ReadEngine implements Connections.ConnectListener {
  private static final Logger LOG = LoggerFactory.getLogger(ReadEngine.class);

  /** Everything that depends on time is looked at so often: that late may a deadline be noticed. */
  static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** With nothing under way only queue pairs become idle: an executor without READs sleeps. */
  static final long IDLE_TICK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final int POLL_BATCH = 64;
  private static final int CONNECT_ATTEMPTS = 2;

  private final CompletionQueue completionQueue;
  private final Connections connections;
  private final BufferPool buffers;
  private final TransferOptions options;
  private final TransferCounters counters;
  private final TaskQueue tasks;
  private final LongSupplier clock;
  private volatile boolean closed;

  private final PendingReads reads;
  private final Recovery recovery;
  private final Map<String, Peer> peers = new HashMap<>();

  // A peer is in one of these at most: READs to post, and no queue pair to be had at the moment.
  private final Queue<Peer> toPost = new ArrayDeque<>();
  private final Queue<Peer> toConnect = new ArrayDeque<>();

  private final WorkCompletions completions = new WorkCompletions(POLL_BATCH);

  /** Not made anew with every tick. */
  private final Consumer<Connection> notFlushed;

  /** The time of this turn. */
  private long now;

  private long nextTickNanos;

  /** Why nothing can be READ any more; null while the device works. */
  private String deviceFailure;

  /**
   * @param clock {@link System#nanoTime}, or a test's
   */
  ReadEngine(
      CompletionQueue completionQueue,
      Connections connections,
      BufferPool buffers,
      TransferOptions options,
      TransferCounters counters,
      TaskQueue tasks,
      LongSupplier clock) {
    this.completionQueue = completionQueue;
    this.connections = connections;
    this.buffers = buffers;
    this.options = options;
    this.counters = counters;
    this.tasks = tasks;
    this.clock = clock;
    this.reads = new PendingReads(counters);
    this.recovery = new Recovery(connections, reads, counters, clock, this::schedule);
    this.notFlushed = recovery::giveUp;
    this.now = clock.getAsLong();
    this.nextTickNanos = now + TICK_NANOS;
  }

  /** Any thread. */
  void submit(ReadRequest request) {
    request.submittedTo(this);
    counters.increment(TransferCounter.READS_SUBMITTED);
    tasks.add(request);
  }

  /** The peer is gone: answers its reads and closes its queue pair. Any thread. */
  void peerLost(String peerId) {
    tasks.execute(() -> forget(peerId));
  }

  /** One turn of the duty cycle; returns 0 when there was nothing to do. */
  int doWork() {
    now = clock.getAsLong();
    int work = tasks.runAll() + poll() + post();
    if (now - nextTickNanos >= 0) {
      tick();
      nextTickNanos = now + (isIdle() ? IDLE_TICK_NANOS : TICK_NANOS);
    }
    return work;
  }

  /** Whether completions are to be expected. */
  boolean isReading() {
    return recovery.outstanding() > 0;
  }

  /** Whether there is nothing that has a deadline; who waits for a buffer waits for one in use. */
  private boolean isIdle() {
    return reads.isEmpty() && !isReading() && buffers.bytesInUse() == 0;
  }

  /** How long {@link #doWork} need not be called unless a task or a completion arrives. */
  long nanosToNextTick() {
    return nextTickNanos - clock.getAsLong();
  }

  /** Answers everything with CLOSED and destroys the queue pairs. On the engine's thread. */
  void close() {
    closed = true;
    try {
      reads.where(read -> true).forEach(read -> fail(read, Cause.CLOSED, "the endpoint is closed"));
      connections.forEach(recovery::destroy);
    } finally {
      tasks.close();
    }
  }

  /** On the engine's thread; what comes after the end, on the thread that submits. */
  void admit(ReadRequest read) {
    if (closed) { // perhaps on the submitter's thread: the engine's state is out of bounds
      read.declined();
      PendingReads.reject(read, "the endpoint is closed", counters);
      return;
    }
    Peer peer = peer(read.peer());
    read.admittedFrom(peer);
    reads.add(read);
    nextTickNanos = Math.min(nextTickNanos - now, TICK_NANOS) + now;
    if (!read.hasMore()) {
      reads.succeed(read);
    } else if (deviceFailure != null) {
      fail(read, Cause.TRANSPORT, deviceFailure);
    } else if (!peer.breaker().admits(now)) {
      fail(read, Cause.CIRCUIT_OPEN, Recovery.FAILED_TOO_OFTEN);
    } else {
      peer.waiting().add(read);
      schedule(peer);
    }
  }

  private Peer peer(PeerAddress address) {
    Peer peer = peers.get(address.id());
    if (peer == null) {
      long cooldownNanos = TimeUnit.MILLISECONDS.toNanos(options.circuitCooldownMs());
      peer = new Peer(address, new CircuitBreaker(options.circuitFailures(), cooldownNanos));
      peers.put(address.id(), peer);
    }
    return peer;
  }

  private void schedule(Peer peer) {
    if (peer.schedule()) {
      toPost.add(peer);
    }
  }

  // Posting.

  private int post() {
    while (!toConnect.isEmpty() && connect(toConnect.peek())) {
      toConnect.remove().unschedule();
    }
    int posted = 0;
    for (int turns = toPost.size(); turns > 0; turns--) {
      Peer peer = toPost.remove();
      peer.unschedule();
      posted += post(peer);
    }
    return posted;
  }

  private int post(Peer peer) {
    Connection connection = peer.connection();
    if (peer.waiting().isEmpty()) {
      return 0;
    }
    if (connection == null) {
      if (connect(peer)) {
        return 1;
      }
      peer.schedule();
      toConnect.add(peer);
      return 0;
    }
    if (connection.state() != Connection.State.READY) {
      return 0;
    }
    int before = connection.outstanding();
    int limit = completionQueue.capacity() - recovery.outstanding();
    try {
      connection.post(peer.waiting(), limit);
    } catch (PostException e) {
      recovery.posted(connection.outstanding() - before);
      recovery.refused(connection, e);
      return 1;
    }
    int posted = connection.outstanding() - before;
    recovery.posted(posted);
    if (posted > 0) {
      counters.increment(TransferCounter.POSTS);
      counters.add(TransferCounter.WORK_REQUESTS, posted);
    }
    if (connection.hasRoomFor(peer.waiting())) {
      schedule(peer); // the completion queue is what has no room
    }
    return posted;
  }

  /**
   * @return false when there is no queue pair to be had at the moment
   */
  private boolean connect(Peer peer) {
    if (peer.connection() != null || peer.waiting().isEmpty()) {
      return true;
    }
    peer.connection(connections.open(peer, now, this));
    return peer.connection() != null;
  }

  @Override
  public void connected(Connection connection) {
    connection.peer().connectSettled();
    schedule(connection.peer());
  }

  @Override
  public void connectFailed(Connection connection, String reason) {
    Peer peer = connection.peer();
    LOG.info("Could not connect a queue pair to {}: {}", peer, reason);
    counters.increment(TransferCounter.CONNECT_FAILURES);
    boolean last = peer.connectFailed() >= CONNECT_ATTEMPTS;
    if (recovery.countFailure(peer) || last) {
      peer.connectSettled();
      recovery.failWaiting(peer, Cause.CONNECT, reason);
    } else {
      schedule(peer);
    }
  }

  @Override
  public void connectRefused(Connection connection, String reason) {
    LOG.info("No queue pair for {}: {}", connection.peer(), reason);
    recovery.failWaiting(connection.peer(), Cause.CONNECT, reason);
  }

  // Completions.

  private int poll() {
    if (deviceFailure != null) {
      return 0;
    }
    counters.increment(TransferCounter.POLLS);
    int polled;
    try {
      polled = completionQueue.poll(completions);
    } catch (VerbsException e) {
      deviceFailed(e.getMessage());
      return 1;
    }
    for (int i = 0; i < polled; i++) {
      completed(completions.wrId(i), completions.status(i), completions.vendorError(i));
    }
    return polled;
  }

  private void completed(long wrId, WorkCompletionStatus status, int vendorError) {
    Connection connection = connections.of(wrId);
    if (connection != null) { // else destroyed after this batch was polled
      recovery.completed(connection, wrId, status, vendorError, now);
    }
  }

  /** For good: a device that comes back is another one, for another process to open. */
  private void deviceFailed(String reason) {
    LOG.error("The device failed: all READs fail from now on: {}", reason);
    deviceFailure = "the device failed: " + reason;
    reads.where(read -> true).forEach(read -> fail(read, Cause.TRANSPORT, deviceFailure));
    peers.values().forEach(peer -> peer.waiting().removeAll());
    connections.forEach(recovery::destroy);
  }

  private void forget(String peerId) {
    Peer peer = closed ? null : peers.remove(peerId);
    if (peer == null) {
      return;
    }
    reads
        .where(read -> read.source() == peer)
        .forEach(read -> fail(read, Cause.TRANSPORT, "the peer is lost"));
    peer.waiting().removeAll();
    Connection connection = peer.connection();
    if (connection == null) {
      return;
    }
    if (connection.outstanding() == 0) {
      connections.close(connection);
    } else {
      recovery.flush(connection);
    }
  }

  private void fail(ReadRequest read, Cause cause, String detail) {
    reads.fail(read, cause, null, detail);
  }

  /** Peers that are remembered. */
  int peers() {
    return peers.size();
  }

  // Time.

  private void tick() {
    // Where the process stood still, more than one batch has completed in time.
    while (poll() > 0) {
      // Nothing is posted meanwhile, so this ends.
    }
    buffers.expire(now);
    int connected = connections.expire(now, this, notFlushed);
    if (reads.isLate(now)) {
      expireReads();
    }
    if (peers.size() > connected) {
      peers.values().removeIf(peer -> peer.isForgettable(now));
    }
  }

  private void expireReads() {
    Set<Peer> late = new HashSet<>();
    for (ReadRequest read : reads.where(read -> read.deadlineNanos() - now <= 0)) {
      expire(read);
      late.add(read.source());
    }
    late.forEach(peer -> peer.waiting().removeAnswered());
  }

  private void expire(ReadRequest read) {
    if (read.isAnswered()) {
      return; // with those of its peer, when a read before it opened the breaker
    }
    Peer peer = read.source();
    fail(read, Cause.DEADLINE, "it was not done by its deadline");
    if (read.outstanding() > 0 && read.connection().state() == Connection.State.READY) {
      recovery.flush(read.connection());
      recovery.failed(peer);
    } else {
      peer.breaker().probeEnded(now);
    }
  }
}
