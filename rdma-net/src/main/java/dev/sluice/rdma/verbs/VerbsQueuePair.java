// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.verbs.PortChooser.ChosenPort;
import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpAttr;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A reliable connection of a verbs device. {@link VerbsProtectionDomain} creates it. It maps the
 * states of {@link QueuePair} to those of ibv_modify_qp(3). Its lock serialises posting threads,
 * and keeps the queue pair from being destroyed under them. The lock guards all fields except
 * {@link #failed}, and the {@link Handshake}. Closed by its user or its protection domain.
 */
final class VerbsQueuePair extends VerbsChild implements QueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(VerbsQueuePair.class);

  private final VerbsProtectionDomain domain;
  private final IbvQp queuePair;
  private final int qpNumber;
  private final VerbsCompletionQueue completions;
  private final PostedSends sends;
  private final Handshake handshake;

  /** State to which this side moved it; the device may have moved it on to ERROR. */
  private QueuePairState state = QueuePairState.RESET;

  private @Nullable QueuePairAddress address;

  /** True if the queue pair is known to be in ERROR. */
  private volatile boolean failed;

  /** The port's values at INIT; null before. */
  private @Nullable ChosenPort port;

  VerbsQueuePair(VerbsProtectionDomain domain, IbvQp queuePair, VerbsCompletionQueue completions) {
    super(domain.device(), "queue pair");
    this.domain = domain;
    this.queuePair = queuePair;
    this.completions = completions;
    qpNumber = queuePair.qpNum();
    sends = new PostedSends(queuePair, owner().attributes().maxMessageSize());
    handshake = owner().newHandshake(this, queuePair);
  }

  VerbsProtectionDomain domain() {
    return domain;
  }

  boolean uses(VerbsCompletionQueue queue) {
    return queue == completions;
  }

  @Override
  public int qpNumber() {
    return qpNumber;
  }

  @Override
  public synchronized QueuePairState state() {
    boolean connected = state == QueuePairState.RTR || state == QueuePairState.RTS;
    if (connected && !queuePair.isClosed() && isInError()) {
      state = QueuePairState.ERROR;
    }
    return state;
  }

  @Override
  public boolean hasFailed() {
    return failed;
  }

  private boolean isInError() {
    try {
      return queuePair.queryState() == IbvQp.State.ERR;
    } catch (VerbsException e) {
      LOG.warn("Reading the state of {} failed, so it counts as failed", this, e);
      return true;
    }
  }

  @Override
  public synchronized QueuePairAddress address() {
    if (address == null) {
      throw new IllegalStateException(this + " has no address before INIT");
    }
    return address;
  }

  @Override
  public synchronized void toInit(Set<AccessFlag> access) throws VerbsException {
    require(QueuePairState.RESET, QueuePairState.INIT);
    ChosenPort chosen = owner().requirePort("ibv_modify_qp(" + this + ", INIT)");
    port = chosen;
    queuePair.modify(Transitions.toInit(chosen, access));
    address =
        new QueuePairAddress(
            qpNumber,
            owner().newPsn(),
            chosen.port().lid(),
            chosen.gid().gid(),
            chosen.pathMtu(),
            owner().attributes().maxQueuePairRdAtomic(),
            handshake.offer(chosen));
    state = QueuePairState.INIT;
  }

  @Override
  public synchronized CompletableFuture<QueuePairAddress> rendezvous(
      QueuePairAddress remote, long timeoutMs) {
    try {
      require(QueuePairState.INIT, QueuePairState.RTR);
      return handshake.meet(remote, timeoutMs);
    } catch (VerbsException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public synchronized void toRtr(QueuePairAddress remote, ConnectionAttributes attributes)
      throws VerbsException {
    require(QueuePairState.INIT, QueuePairState.RTR);
    attributes.check(this, owner().attributes());
    QueuePairAddress local = address();
    address =
        local.withProviderData(handshake.toRtr(requireNonNull(port), local, remote, attributes));
    state = QueuePairState.RTR;
  }

  @Override
  public synchronized void toRts() throws VerbsException {
    require(QueuePairState.RTR, QueuePairState.RTS);
    handshake.toRts();
    state = QueuePairState.RTS;
  }

  @Override
  public synchronized void toError() throws VerbsException {
    requireOpen(QueuePairState.ERROR);
    queuePair.modify(new IbvQpAttr().state(IbvQp.State.ERR));
    state = QueuePairState.ERROR;
    failed = true;
  }

  @Override
  public synchronized void toReset() throws VerbsException {
    requireOpen(QueuePairState.RESET);
    handshake.end();
    queuePair.modify(new IbvQpAttr().state(IbvQp.State.RESET));
    state = QueuePairState.RESET;
    failed = false;
    address = null;
    completions.drop(qpNumber);
  }

  private void require(QueuePairState from, QueuePairState to) throws VerbsException {
    requireOpen(to);
    if (state != from) {
      throw refused(to, "the queue pair is in " + state + ", not in " + from);
    }
  }

  private void requireOpen(QueuePairState to) throws VerbsException {
    if (queuePair.isClosed()) {
      throw refused(to, "the queue pair is closed");
    }
  }

  private VerbsException refused(QueuePairState to, String reason) {
    return new VerbsException(
        "ibv_modify_qp(" + this + ", " + to + ")", VerbsException.EINVAL, reason);
  }

  @Override
  public synchronized void postSend(List<SendWorkRequest> chain) throws PostException {
    boolean postable = state == QueuePairState.RTS || state == QueuePairState.ERROR;
    if (queuePair.isClosed() || !postable) {
      String reason = queuePair.isClosed() ? "closed" : "in " + state;
      throw new PostException(
          "ibv_post_send(" + this + ")", VerbsException.EINVAL, "the queue pair is " + reason, 0);
    }
    sends.post(chain);
  }

  /** Notes that the device reported the queue pair to be in ERROR. */
  void broken(String event) {
    LOG.debug("{}: {}", this, event);
    failed = true;
  }

  IbvQp ibv() {
    return queuePair;
  }

  /** Fails the queue pair, as its completion queue was overrun. */
  void completionsLost() {
    LOG.warn("{} fails: its completion queue overflowed", this);
    fail();
  }

  /** Fails the queue pair, as the peer ended the connection. */
  void peerLeft() {
    LOG.debug("{}: the peer disconnected", this);
    fail();
  }

  private void fail() {
    try {
      toError();
    } catch (VerbsException e) {
      LOG.debug("{} is closed already", this, e);
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      if (queuePair.isClosed()) {
        return;
      }
      handshake.end();
      try {
        queuePair.close();
        completions.remove(qpNumber, queuePair);
      } catch (VerbsException e) {
        if (owner().hasFailed()) {
          LOG.debug("Destroying {} failed", this, e);
        } else {
          LOG.error("Destroying {} failed", this, e);
        }
      }
      state = QueuePairState.RESET;
      address = null;
    }
    closed();
  }

  @Override
  public boolean isDestroyed() {
    return queuePair.isClosed();
  }

  @Override
  public String toString() {
    return "QP 0x%06x".formatted(qpNumber);
  }

  /**
   * Takes one queue pair from INIT to RTS together with its peer. Belongs to the queue pair, which
   * calls it under its lock, in the states that {@link dev.sluice.rdma.QueuePair} allows.
   */
  sealed interface Handshake permits ControlHandshake, CmHandshake {
    /** At INIT: the {@link QueuePairAddress#providerData} for the peer. */
    byte[] offer(ChosenPort port);

    /** Implements {@link dev.sluice.rdma.QueuePair#rendezvous}. */
    CompletableFuture<QueuePairAddress> meet(QueuePairAddress remote, long timeoutMs)
        throws VerbsException;

    /**
     * @param port as the queue pair took it at INIT
     * @return {@link QueuePairAddress#providerData} from now on; on the accepting side, the answer
     *     to the peer's offer
     */
    byte[] toRtr(
        ChosenPort port,
        QueuePairAddress local,
        QueuePairAddress remote,
        ConnectionAttributes attributes)
        throws VerbsException;

    void toRts() throws VerbsException;

    /** Cancels everything under way, as the queue pair is closed or reset. */
    void end();
  }
}
