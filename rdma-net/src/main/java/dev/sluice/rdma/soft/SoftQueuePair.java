package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.PostException;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.QueuePairCapabilities;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.ReceiveWorkRequest;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.leak.LeakTracker;
import java.nio.channels.SelectionKey;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A reliable connection in software: the state machine around the two halves that do the work, the
 * {@link Initiator} and the {@link Responder}, and their {@link Connection}. One lock guards all of
 * them; the event loop and posting threads hold it for at most a few calls of the socket. Closed by
 * its creator, or by its domain.
 */
final class SoftQueuePair implements QueuePair {
  /** Bytes, reported only: TCP cuts the stream as it likes. */
  private static final int MTU = 4096;

  private static final Logger LOG = LoggerFactory.getLogger(SoftQueuePair.class);

  private final ReentrantLock lock = new ReentrantLock();
  private final SoftDevice device;
  private final SoftProtectionDomain domain;
  private final SoftCompletionQueue sendCompletions;
  private final SoftCompletionQueue receiveCompletions;
  private final QueuePairCapabilities capabilities;
  private final int qpNumber;
  private final LeakTracker.Handle leak;
  private final Initiator initiator = new Initiator(this);
  private final Responder responder = new Responder(this);
  private final Link link;

  /** Places taken in the queues; a place is free again when its completion has been polled. */
  private final AtomicInteger sendsQueued = new AtomicInteger();

  private final AtomicInteger receivesQueued = new AtomicInteger();

  /** Unsignaled work requests that succeeded since the last completion. */
  private int unreportedSends;

  private volatile QueuePairState state = QueuePairState.RESET;
  private Set<AccessFlag> access = Set.of();
  private QueuePairAddress address;
  private boolean closed;

  SoftQueuePair(
      SoftProtectionDomain domain,
      SoftCompletionQueue sendCompletions,
      SoftCompletionQueue receiveCompletions,
      QueuePairCapabilities capabilities,
      int qpNumber,
      LeakTracker leaks) {
    this.device = domain.device();
    this.domain = domain;
    this.sendCompletions = sendCompletions;
    this.receiveCompletions = receiveCompletions;
    this.capabilities = capabilities;
    this.qpNumber = qpNumber;
    link = new Link(this, initiator, responder, leaks);
    leak = leaks.opened("queue pair", this);
  }

  @Override
  public int qpNumber() {
    return qpNumber;
  }

  @Override
  public QueuePairState state() {
    return state;
  }

  @Override
  public QueuePairCapabilities capabilities() {
    return capabilities;
  }

  @Override
  public QueuePairAddress address() {
    lock.lock();
    try {
      if (address == null) {
        throw new IllegalStateException(this + " has no address before INIT");
      }
      return address;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void toInit(Set<AccessFlag> peerAccess) throws VerbsException {
    lock.lock();
    try {
      transition(QueuePairState.RESET, QueuePairState.INIT);
      access = peerAccess.isEmpty() ? Set.of() : EnumSet.copyOf(peerAccess);
      SoftAddress local = device.newAddress(qpNumber);
      link.listen(local);
      int serves = device.attributes().maxQueuePairRdAtomic();
      address =
          new QueuePairAddress(
              qpNumber, device.newPsn(), 0, device.gid(), MTU, serves, local.toProviderData());
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void toRtr(QueuePairAddress peer, ConnectionAttributes attributes) throws VerbsException {
    SoftAddress target = SoftAddress.of(peer);
    lock.lock();
    try {
      require(QueuePairState.INIT, QueuePairState.RTR);
      device.checkAttributes(this, attributes);
      if (link.isSelf(target)) {
        throw refused(QueuePairState.RTR, "a queue pair cannot be connected to itself");
      }
      state = QueuePairState.RTR;
      initiator.connect(attributes, peer.maxDestRdAtomic());
      responder.connect(address.maxDestRdAtomic(), attributes.minRnrTimer());
      link.connectTo(target);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void toRts() throws VerbsException {
    lock.lock();
    try {
      transition(QueuePairState.RTR, QueuePairState.RTS);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void toError() throws VerbsException {
    lock.lock();
    try {
      requireOpen("ERROR");
      link.close();
      enterError();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void toReset() throws VerbsException {
    lock.lock();
    try {
      requireOpen("RESET");
      reset();
    } finally {
      lock.unlock();
    }
  }

  private void reset() {
    state = QueuePairState.RESET;
    link.reset();
    initiator.reset();
    responder.reset();
    sendCompletions.drop(this);
    receiveCompletions.drop(this);
    sendsQueued.set(0);
    receivesQueued.set(0);
    unreportedSends = 0;
    address = null;
  }

  private void transition(QueuePairState from, QueuePairState to) throws VerbsException {
    require(from, to);
    state = to;
  }

  private void require(QueuePairState from, QueuePairState to) throws VerbsException {
    requireOpen(to.name());
    if (state != from) {
      throw refused(to, "the queue pair is in " + state + ", not in " + from);
    }
  }

  private void requireOpen(String to) throws VerbsException {
    if (closed) {
      throw new VerbsException(
          "ibv_modify_qp(" + this + ", " + to + ")",
          VerbsException.EINVAL,
          "the queue pair is closed");
    }
  }

  private VerbsException refused(QueuePairState to, String reason) {
    return new VerbsException(
        "ibv_modify_qp(" + this + ", " + to + ")", VerbsException.EINVAL, reason);
  }

  @Override
  public void postSend(List<SendWorkRequest> chain) throws PostException {
    lock.lock();
    try {
      long now = device.loop().now();
      int index = 0;
      try {
        for (SendWorkRequest request : chain) {
          checkPostable(request);
          initiator.post(PostChecks.prepare(this, request), now);
          sendsQueued.incrementAndGet();
          index++;
        }
      } catch (VerbsException e) {
        throw new PostException("ibv_post_send(" + this + ")", e.errno(), e.getMessage(), index);
      } finally {
        process(now);
      }
    } finally {
      lock.unlock();
    }
  }

  private void checkPostable(SendWorkRequest request) throws VerbsException {
    if (closed || state != QueuePairState.RTS && state != QueuePairState.ERROR) {
      throw new VerbsException(
          request.opcode().name(),
          VerbsException.EINVAL,
          closed ? "the queue pair is closed" : "the queue pair is in " + state);
    }
    if (sendsQueued.get() == capabilities.maxSendWr()) {
      throw new VerbsException(
          request.opcode().name(), VerbsException.ENOMEM, "the send queue is full");
    }
  }

  /** Sends, or fails, what has just been posted. */
  private void process(long now) {
    if (state == QueuePairState.ERROR) {
      initiator.flush();
    } else if (link.isLost()) {
      initiator.connectionLost();
    } else if (link.connection() != null) {
      link.connection().flush(now);
    }
    scheduleTimer(now);
  }

  /** Has {@link #expire} called in time for what is waiting now. */
  void scheduleTimer(long now) {
    long deadline = deadline(now);
    if (deadline != EventLoop.NEVER) {
      device.loop().schedule(deadline);
    }
  }

  private long deadline(long now) {
    return Math.min(initiator.deadline(now), responder.deadline());
  }

  @Override
  public void postReceive(List<ReceiveWorkRequest> chain) throws PostException {
    lock.lock();
    try {
      int index = 0;
      for (ReceiveWorkRequest request : chain) {
        PostChecks.check(this, request, closed, receivesQueued.get(), index);
        responder.post(request);
        receivesQueued.incrementAndGet();
        index++;
      }
    } finally {
      if (state == QueuePairState.ERROR) {
        responder.flush();
      }
      lock.unlock();
    }
  }

  /** A completion was polled: its places in the queues are free. Any thread, without the lock. */
  void polled(Completion completion) {
    if (completion.isReceive()) {
      receivesQueued.decrementAndGet();
    } else {
      sendsQueued.addAndGet(-completion.retiredSends());
    }
  }

  /** Called by the initiator for each work request, in posting order. */
  void completeSend(PendingSend send, WorkCompletionStatus status) {
    unreportedSends++;
    if (status == WorkCompletionStatus.SUCCESS && !send.isSignaled()) {
      return;
    }
    Completion completion =
        Completion.ofSend(
            this, send.request.wrId(), status, send.opcode(), send.length, unreportedSends);
    unreportedSends = 0;
    push(sendCompletions, completion);
  }

  /** Called by the responder for each receive, in posting order. */
  void completeReceive(Completion completion) {
    push(receiveCompletions, completion);
    if (completion.status() != WorkCompletionStatus.SUCCESS && state != QueuePairState.ERROR) {
      enterError();
    }
  }

  private void push(SoftCompletionQueue queue, Completion completion) {
    if (!queue.push(completion) && state != QueuePairState.ERROR) {
      LOG.warn("{}: more completions than its completion queue holds", this);
      link.close();
      enterError();
    }
  }

  /** A request of this side has failed: nothing is sent or received any more. */
  void failing() {
    state = QueuePairState.ERROR;
    link.close();
  }

  /** The requests of this side are all completed. */
  void failed() {
    responder.flush();
  }

  /** A request of the peer was refused: that is sent, and then nothing more. */
  void refused() {
    link.connection().drain();
    enterError();
  }

  private void enterError() {
    state = QueuePairState.ERROR;
    initiator.flush();
    responder.flush();
  }

  /** The connection broke, for whatever reason. */
  void connectionLost(String reason) {
    if (link.connection() != null) {
      LOG.debug("{}: connection lost: {}", this, reason);
      link.close();
      initiator.connectionLost();
    }
  }

  /** Connects to the peer. On the event loop's thread. */
  void dial() {
    lock.lock();
    try {
      link.dial();
    } finally {
      lock.unlock();
    }
  }

  /** A peer says that it belongs to this queue pair. On the event loop's thread. */
  void introduce(Hello hello, SelectionKey key) {
    lock.lock();
    try {
      link.introduce(hello, key);
    } finally {
      lock.unlock();
    }
  }

  /** The timer: returns when it is to be called again. On the event loop's thread. */
  long expire(long now) {
    lock.lock();
    try {
      initiator.expire(now);
      if (link.connection() != null) {
        link.connection().flush(now);
      }
      return deadline(now);
    } finally {
      lock.unlock();
    }
  }

  /** After this nothing touches the region's memory through this queue pair. */
  void regionClosed(SoftMemoryRegion region) {
    lock.lock();
    try {
      if (link.connection() != null) {
        link.connection().regionClosed(region, device.loop().now());
      }
    } finally {
      lock.unlock();
    }
  }

  boolean allows(AccessFlag flag) {
    return access.contains(flag);
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

  void unlock() {
    lock.unlock();
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      reset();
    } finally {
      lock.unlock();
    }
    sendCompletions.detach();
    receiveCompletions.detach();
    device.forget(this);
    leak.closed();
  }

  @Override
  public String toString() {
    return "QP 0x%06x".formatted(qpNumber);
  }
}
