// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.leak.LeakTracker;
import dev.sluice.rdma.soft.Initiator.PendingSend;
import dev.sluice.rdma.soft.Link.Hello;
import dev.sluice.rdma.soft.SoftCompletionQueue.Completion;
import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A reliable connection in software. {@link SoftDevice} creates it. It holds the state machine, the
 * two halves {@link Initiator} and {@link Responder}, and their {@link SoftConnection}. One lock
 * guards them all. Only {@link #lock} and {@link #unlock} take and release it, since {@link
 * #unlock} reports the completions. The event loop and posting threads hold it for a few socket
 * calls at most. Closed by its user or its protection domain.
 */
final class SoftQueuePair implements QueuePair {
  /** Bytes, reported only: TCP splits the stream as it likes. */
  private static final int MTU = 4096;

  private static final Logger LOG = LoggerFactory.getLogger(SoftQueuePair.class);

  private final ReentrantLock lock = new ReentrantLock();
  private final SoftDevice device;
  private final SoftProtectionDomain domain;
  private final EventLoop loop;
  private final int depth;
  private final int qpNumber;
  private final LeakTracker.Handle leak;
  private final Initiator initiator = new Initiator(this);
  private final Responder responder = new Responder(this);
  private final StateMachine states = new StateMachine(this);
  private final CompletionReporter completions;
  private final Link link;
  private Set<AccessFlag> access = Set.of();
  private @Nullable QueuePairAddress address;

  SoftQueuePair(
      SoftProtectionDomain domain,
      EventLoop loop,
      SoftCompletionQueue completionQueue,
      int depth,
      int qpNumber,
      LeakTracker leaks) {
    this.device = domain.device();
    this.domain = domain;
    this.loop = loop;
    this.depth = depth;
    this.qpNumber = qpNumber;
    completions = new CompletionReporter(this, completionQueue);
    link = new Link(this, initiator, responder, leaks);
    leak = leaks.opened("queue pair", this);
  }

  @Override
  public int qpNumber() {
    return qpNumber;
  }

  @Override
  public QueuePairState state() {
    return states.state();
  }

  @Override
  public QueuePairAddress address() {
    lock();
    try {
      if (address == null) {
        throw new IllegalStateException(this + " has no address before INIT");
      }
      return address;
    } finally {
      unlock();
    }
  }

  @Override
  public void toInit(Set<AccessFlag> peerAccess) throws VerbsException {
    lock();
    try {
      states.advance(QueuePairState.RESET, QueuePairState.INIT);
      access = peerAccess.isEmpty() ? Set.of() : EnumSet.copyOf(peerAccess);
      SoftAddress local = device.newAddress(qpNumber);
      link.listen(local);
      int serves = device.attributes().maxQueuePairRdAtomic();
      address =
          new QueuePairAddress(qpNumber, 0, 0, device.gid(), MTU, serves, local.toProviderData());
    } finally {
      unlock();
    }
  }

  @Override
  public void toRtr(QueuePairAddress peer, ConnectionAttributes attributes) throws VerbsException {
    SoftAddress target = SoftAddress.of(peer);
    lock();
    try {
      states.require(QueuePairState.INIT, QueuePairState.RTR);
      attributes.check(this, device.attributes());
      if (link.isSelf(target)) {
        throw states.refusal(QueuePairState.RTR, "a queue pair cannot be connected to itself");
      }
      states.enter(QueuePairState.RTR);
      initiator.connect(attributes, peer.maxDestRdAtomic());
      responder.connect(requireNonNull(address).maxDestRdAtomic());
      link.connectTo(target);
    } finally {
      unlock();
    }
  }

  @Override
  public void toRts() throws VerbsException {
    lock();
    try {
      states.advance(QueuePairState.RTR, QueuePairState.RTS);
    } finally {
      unlock();
    }
  }

  @Override
  public void toError() throws VerbsException {
    lock();
    try {
      states.requireOpen(QueuePairState.ERROR);
      link.close();
      enterError();
    } finally {
      unlock();
    }
  }

  @Override
  public void toReset() throws VerbsException {
    lock();
    try {
      states.requireOpen(QueuePairState.RESET);
      reset();
    } finally {
      unlock();
    }
  }

  private void reset() {
    states.enter(QueuePairState.RESET);
    link.reset();
    initiator.reset();
    responder.reset();
    completions.reset();
    address = null;
  }

  @Override
  public void postSend(List<SendWorkRequest> chain) throws PostException {
    lock();
    try {
      long now = loop.now();
      int index = 0;
      try {
        for (SendWorkRequest request : chain) {
          states.checkPost(request, completions.queued());
          initiator.post(new PendingSend(request), now);
          completions.posted();
          index++;
        }
      } catch (VerbsException e) {
        throw new PostException("ibv_post_send(" + this + ")", e.errno(), e.getMessage(), index);
      } finally {
        process(now);
      }
    } finally {
      unlock();
    }
  }

  /** Sends, or fails, the requests that have just been posted. */
  private void process(long now) {
    if (states.isInError()) {
      initiator.flush();
    } else if (link.isLost()) {
      initiator.connectionLost();
    } else if (link.connection() != null) {
      link.connection().flush(now);
    }
    scheduleTimer();
  }

  /** Schedules {@link #expire} for the earliest deadline. */
  void scheduleTimer() {
    long deadline = deadline();
    if (deadline != EventLoop.NEVER) {
      loop.schedule(deadline);
    }
  }

  private long deadline() {
    return Math.min(initiator.deadline(), responder.deadline());
  }

  /** Notes that a completion was polled. Any thread, without the lock. */
  void polled(Completion completion) {
    completions.polled(completion);
  }

  /** Called by the initiator for each work request, in posting order. */
  void completeSend(PendingSend send, WorkCompletionStatus status) {
    completions.complete(send, status);
  }

  /** Stops sending, as a request of this side has failed. */
  void failing() {
    states.enter(QueuePairState.ERROR);
    link.close();
  }

  /** Sends the refusal of a request of the peer, and nothing after it. */
  void refused() {
    requireNonNull(link.connection()).drain();
    enterError();
  }

  private void enterError() {
    states.enter(QueuePairState.ERROR);
    initiator.flush();
  }

  /** Called when the connection breaks for any reason. */
  void connectionLost(String reason) {
    if (link.connection() != null) {
      LOG.debug("{}: connection lost: {}", this, reason);
      link.close();
      initiator.connectionLost();
    }
  }

  /** Connects to the peer. On the event loop's thread. */
  void dial() {
    lock();
    try {
      link.dial();
    } finally {
      unlock();
    }
  }

  /**
   * Takes a connection of a peer that claims to belong to this queue pair. On the event loop's
   * thread.
   */
  void introduce(Hello hello, SelectionKey key) {
    lock();
    try {
      link.introduce(hello, key);
    } finally {
      unlock();
    }
  }

  /** Handles deadlines. Returns the time of the next call. On the event loop's thread. */
  long expire(long now) {
    lock();
    try {
      initiator.expire(now);
      responder.expire(now);
      if (link.connection() != null) {
        link.connection().flush(now);
      }
      return deadline();
    } finally {
      unlock();
    }
  }

  /**
   * Reads bytes that the page cache lacks, and sends them later. Never waits.
   *
   * @param listener called under the lock, before more is sent
   */
  void readFromDisk(SoftFileRegion region, long from, int bytes, DiskReaders.Listener listener) {
    device
        .diskReaders()
        .read(
            region,
            from,
            bytes,
            loop.frameBuffers(),
            (read, failure) -> loop.execute(() -> readFromDisk(listener, read, failure)));
  }

  private void readFromDisk(
      DiskReaders.Listener listener, @Nullable ByteBuffer read, @Nullable Throwable failure) {
    lock();
    try {
      listener.read(read, failure);
      if (link.connection() != null) {
        link.connection().flush(loop.now());
      }
      scheduleTimer();
    } finally {
      unlock();
    }
  }

  /** Stops all access to the region's bytes through this queue pair. */
  void regionClosed(SoftRegion region) {
    lock();
    try {
      if (link.connection() != null) {
        link.connection().regionClosed(region);
      }
    } finally {
      unlock();
    }
  }

  boolean allows(AccessFlag flag) {
    return access.contains(flag);
  }

  /** The loop that moves the bytes of this queue pair. */
  EventLoop loop() {
    return loop;
  }

  /** Work requests that the send queue holds. */
  int depth() {
    return depth;
  }

  SoftDevice device() {
    return device;
  }

  SoftProtectionDomain domain() {
    return domain;
  }

  void lock() {
    lock.lock();
  }

  /** Releases the lock, and reports the completions that happened under it. */
  void unlock() {
    try {
      if (!completions.report() && !states.isInError()) {
        LOG.warn("{} fails: its completion queue overflowed", this);
        link.close();
        enterError();
        completions.report();
      }
    } finally {
      lock.unlock();
    }
    completions.announce();
  }

  @Override
  public void close() {
    lock();
    try {
      if (!states.close()) {
        return;
      }
      reset();
    } finally {
      unlock();
    }
    completions.close();
    device.forget(this);
    leak.closed();
  }

  @Override
  public String toString() {
    return "QP 0x%06x".formatted(qpNumber);
  }
}
