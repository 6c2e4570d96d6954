// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.verbs.PortChooser.ChosenPort;
import dev.sluice.rdma.verbs.VerbsQueuePair.Handshake;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaConnParam;
import dev.sluice.verbs.ibv.IbvEce;
import dev.sluice.verbs.ibv.IbvPortAttr;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpAttr;
import java.security.MessageDigest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Connects one queue pair by rdma_cm. The side that calls {@link #meet} connects, and takes the
 * attributes for RTR and RTS from its own id. The other side issues a token and, at RTR and RTS,
 * only notes the attributes. It changes state when a request presents the token. {@link
 * VerbsDevice} creates one for each queue pair, which calls it under its lock. The thread of {@link
 * CmAgent} calls it too, and takes that lock here. The lock guards all fields.
 */
final class CmHandshake implements Handshake {
  /** Longer than a peer may take between receiving the token and sending its request. */
  private static final long TOKEN_LIFETIME_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final VerbsQueuePair queuePair;
  private final IbvQp ibv;
  private final VerbsDevice device;
  private final CmAgent agent;
  private final Ece ece;
  private byte @Nullable [] token;
  private long tokenEndNanos;
  private @Nullable Wanted wanted;
  private boolean readyToSend;
  private @Nullable CompletableFuture<RdmaCmId> attempt;
  private @Nullable RdmaCmId id;

  /** True if this side asked for the connection, and so has to complete it. */
  private boolean connecting;

  /** The arguments of RTR. */
  private record Wanted(
      ChosenPort port,
      QueuePairAddress local,
      QueuePairAddress remote,
      ConnectionAttributes attributes) {}

  CmHandshake(VerbsQueuePair queuePair, IbvQp ibv, VerbsDevice device, CmAgent agent) {
    this.queuePair = queuePair;
    this.ibv = ibv;
    this.device = device;
    this.agent = agent;
    ece = new Ece(ibv);
  }

  @Override
  public byte[] offer(ChosenPort port) {
    ece.offer();
    token = agent.newToken();
    tokenEndNanos = System.nanoTime() + TOKEN_LIFETIME_NANOS;
    agent.offer(ibv.qpNum(), this);
    return new CmAddress(agent.address(), token).toProviderData();
  }

  private void withdraw() {
    token = null;
    agent.withdraw(ibv.qpNum(), this);
  }

  @Override
  public CompletableFuture<QueuePairAddress> meet(QueuePairAddress remote, long timeoutMs)
      throws VerbsException {
    CmAddress peer = CmAddress.of(remote);
    withdraw();
    CompletableFuture<RdmaCmId> begun =
        agent.connect(
            queuePair + " to " + remote + " by " + peer,
            peer.listening(),
            device.port().last().trafficClass(),
            param().with(p -> p.privateData = peer.request(remote.qpNumber())),
            ece.offer(),
            timeoutMs);
    attempt = begun;
    return begun.thenApply(
        connected -> {
          take(begun, connected);
          return remote;
        });
  }

  /** Takes the connected id, unless the queue pair was closed while the peer answered. */
  private void take(CompletableFuture<RdmaCmId> finished, RdmaCmId connected) {
    synchronized (queuePair) {
      if (attempt != finished) {
        agent.release(connected);
        return;
      }
      attempt = null;
      id = connected;
      connecting = true;
      agent.connected(id, this);
    }
  }

  private RdmaConnParam param() {
    return RdmaConnParam.DEFAULT.with(p -> p.qpNum = ibv.qpNum());
  }

  @Override
  public byte[] toRtr(
      ChosenPort port,
      QueuePairAddress local,
      QueuePairAddress remote,
      ConnectionAttributes attributes)
      throws VerbsException {
    CmAddress.of(remote); // refuses a peer that does not use rdma_cm
    wanted = new Wanted(port, local, remote, attributes);
    if (id != null) {
      ece.complete(ece.receivedBy(id));
      enterRtr(id, wanted);
    }
    return local.providerData();
  }

  @Override
  public void toRts() throws VerbsException {
    readyToSend = true;
    if (id != null) {
      enterRts(id, requireNonNull(wanted));
      if (connecting) {
        id.establish();
      }
    }
  }

  private void enterRtr(RdmaCmId id, Wanted wanted) throws VerbsException {
    IbvQpAttr found = id.initQpAttr(IbvQp.State.RTR);
    IbvQpAttr ours = Transitions.toRtr(wanted.port, wanted.local, wanted.remote, wanted.attributes);
    IbvPortAttr.Mtu most = ours.pathMtu().known().orElseThrow();
    if (found.get("dest_qp_num") != wanted.remote.qpNumber()) {
      throw refused(
          "rdma_cm connected to another queue pair, 0x"
              + Integer.toHexString(found.get("dest_qp_num")));
    }
    // INIT took the first partition of the port. rdma_cm gives the partition of the path among the
    // attributes for INIT.
    ibv.modify(
        found
            .pkeyIndex(id.initQpAttr(IbvQp.State.INIT).get("pkey_index"))
            .pathMtu(found.pathMtu().known().filter(mtu -> mtu.compareTo(most) < 0).orElse(most))
            .maxDestRdAtomic(ours.get("max_dest_rd_atomic"))
            .minRnrTimer(ours.get("min_rnr_timer")));
  }

  private void enterRts(RdmaCmId id, Wanted wanted) throws VerbsException {
    IbvQpAttr ours =
        Transitions.toRts(wanted.local, wanted.remote, wanted.attributes, device.maxRetryCount());
    ibv.modify(
        id.initQpAttr(IbvQp.State.RTS)
            .timeout(ours.get("timeout"))
            .retryCnt(ours.get("retry_cnt"))
            .rnrRetry(ours.get("rnr_retry"))
            .maxRdAtomic(ours.get("max_rd_atomic")));
  }

  /**
   * Accepts a request for this queue pair.
   *
   * @throws VerbsException if the request is refused
   */
  void requested(RdmaCmId requester, int requestingQp, byte[] presented) throws VerbsException {
    synchronized (queuePair) {
      Wanted expected = check(requestingQp, presented);
      withdraw();
      id = requester;
      try {
        ece.accept(ece.receivedBy(requester));
        enterRtr(requester, expected);
        if (readyToSend) {
          enterRts(requester, expected);
        }
        answerEce(requester);
        requester.accept(param());
        agent.connected(requester, this);
      } catch (VerbsException e) {
        id = null;
        throw e;
      }
    }
  }

  private void answerEce(RdmaCmId requester) throws VerbsException {
    IbvEce answer = ece.answer();
    if (answer.options() != 0) {
      requester.setLocalEce(answer);
    }
  }

  /** Checks the token first: a requester without it learns nothing. */
  private Wanted check(int requestingQp, byte[] presented) throws VerbsException {
    boolean valid = token != null && System.nanoTime() - tokenEndNanos < 0;
    if (!valid || !MessageDigest.isEqual(token, presented)) {
      throw refused("its token is not valid");
    }
    if (wanted == null || wanted.remote.qpNumber() != requestingQp) {
      throw refused("it comes from another queue pair than expected");
    }
    return wanted;
  }

  private VerbsException refused(String reason) {
    return new VerbsException(
        "rdma_accept(" + queuePair + ")",
        VerbsException.EACCES,
        "the request is refused: " + reason);
  }

  /** Notes that the connection has ended. */
  void ended(RdmaCmId former) {
    synchronized (queuePair) {
      if (former == id) {
        queuePair.peerLeft();
      }
    }
  }

  @Override
  public void end() {
    withdraw();
    if (attempt != null) {
      attempt.completeExceptionally(
          new VerbsException(
              "rdma_connect(" + queuePair + ")",
              VerbsException.EINVAL,
              "the queue pair was closed meanwhile"));
      attempt = null;
      agent.wakeUp();
    }
    if (id != null) {
      agent.release(id);
      id = null;
    }
    connecting = false;
    wanted = null;
    readyToSend = false;
  }
}
