// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.TaskFailures;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs from many peers, over one queue pair each: posts in batches, polls, answers reads, and
 * handles failures. An {@link RdmaEndpoint} creates one.
 *
 * <p>Any thread submits. Everything else happens in {@link #doWork}, which one thread calls: {@link
 * ReadThread}, or a test by hand. The same thread calls {@link #close}, which answers every read
 * and destroys every queue pair. All fields that change belong to that thread, except {@link
 * #closed}.
 *
 * <p>{@link Recovery} decides about reads whose work requests fail. A read whose deadline passes is
 * answered at once, and its queue pair is flushed. If the device itself fails, every current and
 * future read fails.
 */
final class ReadEngine implements Connections.ConnectListener {
  private static final Logger LOG = LoggerFactory.getLogger(ReadEngine.class);

  /** Period of all time checks, and so the delay with which a deadline may be noticed. */
  static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Period without deadlines: only queue pairs can become idle, and an unused executor sleeps. */
  static final long IDLE_TICK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Largest number of completions that one poll takes. */
  private static final int POLL_BATCH = 64;

  /** Failed attempts in a row after which the waiting reads fail with CONNECT. */
  private static final int CONNECT_ATTEMPTS = 2;

  private final CompletionQueue completionQueue;
  private final Connections connections;
  private final BufferPool buffers;
  private final TransferOptions options;
  private final Counters<TransferCounter> counters;
  private final TaskQueue tasks;
  private final LongSupplier clock;
  private volatile boolean closed;

  private final PendingReads reads;
  private final Recovery recovery;
  private final ReadLatencies latencies = new ReadLatencies();
  private final SlowPeers slowPeers;
  private final Map<String, Peer> peers = new HashMap<>();

  // A peer is in at most one of these: it has READs to post, or waits for a queue pair.
  private final Queue<Peer> toPost = new ArrayDeque<>();
  private final Queue<Peer> toConnect = new ArrayDeque<>();

  private final WorkCompletions completions = new WorkCompletions(POLL_BATCH);

  /** Kept in a field, so that a tick does not allocate it. */
  private final Consumer<Connection> notFlushed;

  /** Steps of a tick. If one throws, the exception is logged and the others run. */
  private final Runnable[] timed = {
    this::expireBuffers, this::expireConnections, this::expireReads, this::checkPeers
  };

  /** Time at the start of this turn. */
  private long now;

  private long nextTickNanos;

  /** Reason why all READs fail; null while the device works. */
  private @Nullable String deviceFailure;

  /**
   * @param clock {@link System#nanoTime}, or a test's clock
   */
  ReadEngine(
      CompletionQueue completionQueue,
      Connections connections,
      BufferPool buffers,
      TransferOptions options,
      Counters<TransferCounter> counters,
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
    this.recovery = new Recovery(connections, reads, latencies, counters, clock, this::schedule);
    this.notFlushed = recovery::giveUp;
    this.now = clock.getAsLong();
    this.slowPeers = new SlowPeers(counters, now);
    this.nextTickNanos = now + TICK_NANOS;
  }

  /** Any thread. */
  void submit(ReadRequest request) {
    request.submittedTo(this);
    counters.increment(TransferCounter.READS_SUBMITTED);
    tasks.add(request);
  }

  /** Begins to connect a queue pair to a peer that is not known yet. Any thread. */
  void connect(PeerAddress address) {
    tasks.execute(
        () -> {
          if (!closed && deviceFailure == null && !peers.containsKey(address.id())) {
            Peer peer = peer(address);
            peer.connection(connections.open(peer, now, this));
          }
        });
  }

  /** Reports that the peer is gone: answers its reads and closes its queue pair. Any thread. */
  void peerLost(String peerId) {
    tasks.execute(() -> forget(peerId));
  }

  /** Runs one turn of the duty cycle. Returns 0 if there was nothing to do. */
  int doWork() {
    now = clock.getAsLong();
    int work = tasks.runAll() + poll() + post();
    if (now - nextTickNanos >= 0) {
      tick();
      nextTickNanos = now + (isIdle() ? IDLE_TICK_NANOS : TICK_NANOS);
    }
    return work;
  }

  /** True if completions are expected. */
  boolean isReading() {
    return recovery.outstanding() > 0;
  }

  /** True if nothing has a deadline. Tasks that wait for a buffer wait for a buffer in use. */
  private boolean isIdle() {
    return reads.isEmpty() && !isReading() && buffers.bytesInUse() == 0;
  }

  /** Nanoseconds until {@link #doWork} must be called, if no task or completion arrives before. */
  long nanosToNextTick() {
    return nextTickNanos - clock.getAsLong();
  }

  /** Answers every read with CLOSED and destroys the queue pairs. On the engine's thread. */
  void close() {
    closed = true;
    try {
      failAll(Cause.CLOSED, "the endpoint is closed");
      connections.forEach(recovery::destroy);
    } finally {
      tasks.close();
    }
  }

  /**
   * Begins a read. The read gets exactly one answer, even if this fails. On the engine's thread;
   * after {@link #close}, on the submitter's thread.
   */
  void admit(ReadRequest read) {
    if (closed) { // Perhaps on the submitter's thread, which must not touch the engine's state.
      read.declined();
      PendingReads.fail(read, Cause.CLOSED, "the endpoint is closed", counters);
      return;
    }
    Peer peer;
    try {
      peer = peer(read.peer());
    } catch (RuntimeException | Error e) {
      read.declined();
      PendingReads.fail(read, Cause.TRANSPORT, e.toString(), counters);
      throw e;
    }
    read.admittedFrom(peer);
    reads.add(read);
    try {
      begin(read, peer);
    } catch (RuntimeException | Error e) {
      fail(read, Cause.TRANSPORT, e.toString());
      throw e;
    }
  }

  private void begin(ReadRequest read, Peer peer) {
    nextTickNanos = Math.min(nextTickNanos - now, TICK_NANOS) + now;
    if (!read.hasMore()) {
      reads.succeed(read);
    } else if (deviceFailure != null) {
      fail(read, Cause.TRANSPORT, deviceFailure);
    } else if (!peer.breaker().admits(now)) {
      fail(read, Cause.CIRCUIT_OPEN, Recovery.FAILED_TOO_OFTEN);
    } else {
      peer.add(read);
      schedule(peer);
    }
  }

  private Peer peer(PeerAddress address) {
    Peer peer = peers.get(address.id());
    if (peer == null) {
      long cooldownNanos = TimeUnit.MILLISECONDS.toNanos(options.circuitCooldownMs());
      CircuitBreaker breaker = new CircuitBreaker(options.circuitFailures(), cooldownNanos);
      peer = new Peer(address, breaker, latencies.known(address));
      peers.put(address.id(), peer);
    }
    return peer;
  }

  private void schedule(Peer peer) {
    if (!peer.isScheduled()) {
      toPost.add(peer);
      peer.schedule();
    }
  }

  // Posting.

  private int post() {
    while (!toConnect.isEmpty() && connect(toConnect.peek())) {
      toConnect.remove().unschedule();
    }
    if (toPost.isEmpty()) {
      return 0;
    }
    int posted = 0;
    long nowNanos = clock.getAsLong();
    for (int turns = toPost.size(); turns > 0; turns--) {
      Peer peer = toPost.remove();
      peer.unschedule();
      try {
        posted += post(peer, nowNanos);
      } catch (RuntimeException | Error e) { // The peer's reads have deadlines.
        TaskFailures.log(LOG, "Posting READs from {} failed", peer, e);
      }
    }
    return posted;
  }

  private int post(Peer peer, long nowNanos) {
    Connection connection = peer.connection();
    if (!peer.hasWaiting()) {
      return 0;
    }
    if (connection == null) {
      if (connect(peer)) {
        return 1;
      }
      toConnect.add(peer);
      peer.schedule();
      return 0;
    }
    if (connection.state() != Connection.State.READY) {
      return 0;
    }
    int before = connection.outstanding();
    int limit = completionQueue.capacity() - recovery.outstanding();
    try {
      connection.post(limit, nowNanos);
    } catch (PostException e) {
      recovery.posted(connection.outstanding() - before);
      recovery.refused(connection, e);
      return 1;
    } catch (RuntimeException | Error e) {
      recovery.posted(connection.outstanding() - before);
      recovery.destroyed(connection, e);
      return 1;
    }
    int posted = connection.outstanding() - before;
    recovery.posted(posted);
    if (posted > 0) {
      counters.increment(TransferCounter.POSTS);
      counters.add(TransferCounter.WORK_REQUESTS, posted);
    }
    if (connection.hasRoom()) {
      schedule(peer); // The completion queue is full, not the send queue.
    }
    return posted;
  }

  /**
   * @return false if no queue pair is available at the moment
   */
  private boolean connect(Peer peer) {
    if (peer.connection() != null || !peer.hasWaiting()) {
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
    LOG.info("Creating a queue pair for {} failed: {}", connection.peer(), reason);
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
    if (polled == 0) {
      return 0;
    }
    long polledNanos = clock.getAsLong(); // Once for all: on some systems it is a system call.
    for (int i = 0; i < polled; i++) {
      try {
        completed(
            completions.wrId(i), completions.status(i), completions.vendorError(i), polledNanos);
      } catch (RuntimeException | Error e) {
        TaskFailures.log(LOG, "Handling a work completion failed", e);
      }
    }
    return polled;
  }

  private void completed(
      long wrId, WorkCompletionStatus status, int vendorError, long polledNanos) {
    Connection connection = connections.of(wrId);
    if (connection != null) { // Else the connection was destroyed after this batch was polled.
      recovery.completed(connection, wrId, status, vendorError, polledNanos);
    }
  }

  /** Fails all READs for good. A device that comes back is a new one, for another process. */
  private void deviceFailed(String reason) {
    LOG.error("The device failed; all READs of this process fail from now on: {}", reason);
    deviceFailure = "the device failed: " + reason;
    failAll(Cause.TRANSPORT, deviceFailure);
    peers.values().forEach(Peer::removeWaiting);
    connections.forEach(recovery::destroy);
  }

  private void forget(String peerId) {
    Peer peer = closed ? null : peers.remove(peerId);
    if (peer == null) {
      return;
    }
    latencies.forgotten(peer.address());
    reads
        .where(read -> read.source() == peer)
        .forEach(read -> fail(read, Cause.TRANSPORT, "the peer is lost"));
    peer.removeWaiting();
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

  private void failAll(Cause cause, String detail) {
    reads.where(read -> true).forEach(read -> fail(read, cause, detail));
  }

  private void fail(ReadRequest read, Cause cause, String detail) {
    reads.fail(read, cause, null, detail);
  }

  /** Latencies of the READs. Any thread. */
  ReadLatencies latencies() {
    return latencies;
  }

  /** Number of peers that the engine remembers. */
  int peers() {
    return peers.size();
  }

  // Time.

  private void tick() {
    // After a pause of the process, several batches may have completed in time: poll them all.
    while (poll() > 0) {
      // Nothing is posted meanwhile, so the loop ends.
    }
    for (Runnable step : timed) {
      try {
        step.run();
      } catch (RuntimeException | Error e) {
        TaskFailures.log(LOG, "A periodic step of the read engine failed", e);
      }
    }
  }

  private void expireBuffers() {
    buffers.expire(now);
  }

  private void expireConnections() {
    int connected = connections.expire(now, this, notFlushed);
    if (peers.size() > connected) {
      peers.values().removeIf(this::isForgotten);
    }
  }

  private boolean isForgotten(Peer peer) {
    if (!peer.isForgettable(now)) {
      return false;
    }
    latencies.forgotten(peer.address());
    return true;
  }

  private void expireReads() {
    if (!reads.isLate(now)) {
      return;
    }
    List<ReadRequest> expired = reads.where(read -> read.deadlineNanos() - now <= 0);
    expired.forEach(this::recordExpired); // Before the first one flushes their queue pair.
    Set<Peer> late = new HashSet<>();
    for (ReadRequest read : expired) {
      late.add(read.source());
      try {
        expire(read);
      } catch (RuntimeException | Error e) {
        TaskFailures.log(LOG, "Ending a READ at its deadline failed", e);
      }
    }
    late.forEach(Peer::removeAnswered);
  }

  private void recordExpired(ReadRequest read) {
    if (read.connection() != null && read.outstanding() > 0) {
      latencies.took(read.source(), now - read.postedNanos(), 0);
    }
  }

  private void checkPeers() {
    slowPeers.check(peers.values(), now);
  }

  private void expire(ReadRequest read) {
    if (read.isAnswered()) {
      return; // Answered with the peer's other reads, when an earlier one opened the breaker.
    }
    Peer peer = read.source();
    fail(read, Cause.DEADLINE, "it did not complete by its deadline");
    Connection connection = read.connection();
    if (connection != null
        && read.outstanding() > 0
        && connection.state() == Connection.State.READY) {
      recovery.flush(connection);
      recovery.failed(peer);
    } else {
      peer.breaker().probeEnded(now);
    }
  }
}
