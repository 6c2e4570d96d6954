package dev.sluice.rdma.verbs;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.cm.RdmaCmId;
import dev.sluice.rdma.verbs.cm.RdmaConnParam;
import dev.sluice.rdma.verbs.ibv.IbvMtu;
import dev.sluice.rdma.verbs.ibv.IbvQp;
import dev.sluice.rdma.verbs.ibv.IbvQpAttr;
import dev.sluice.rdma.verbs.ibv.IbvQpState;
import java.security.MessageDigest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * One queue pair and its connection by rdma_cm. The side that meets the other connects, and finds
 * the attributes of RTR and RTS in its own id; the other side gives out a token, notes at RTR and
 * RTS what is wanted, and goes there when a request shows the token. Called by the queue pair, and
 * by the thread of {@link CmAgent} with the queue pair's lock taken here.
 */
final class CmHandshake implements Handshake {
  /** Longer than a peer may take from the answer that it got to its request. */
  private static final long TOKEN_LIFETIME_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final VerbsQueuePair queuePair;
  private final IbvQp ibv;
  private final VerbsDevice device;
  private final CmAgent agent;
  private byte[] token;
  private long tokenEndNanos;
  private Wanted wanted;
  private boolean readyToSend;
  private CompletableFuture<RdmaCmId> attempt;
  private RdmaCmId id;

  /** This side asked for the connection, and so completes it. */
  private boolean connecting;

  /** What RTR was asked for with. */
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
  }

  @Override
  public byte[] offer(ChosenPort port) {
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
            timeoutMs);
    attempt = begun;
    return begun.thenApply(
        connected -> {
          take(begun, connected);
          return remote;
        });
  }

  /** The queue pair may have been closed while the peer answered. */
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
  public void toRtr(
      ChosenPort port,
      QueuePairAddress local,
      QueuePairAddress remote,
      ConnectionAttributes attributes)
      throws VerbsException {
    CmAddress.of(remote); // refuses a peer that does not use rdma_cm
    wanted = new Wanted(port, local, remote, attributes);
    if (id != null) {
      enterRtr();
    }
  }

  @Override
  public void toRts() throws VerbsException {
    readyToSend = true;
    if (id != null) {
      enterRts();
      if (connecting) {
        id.establish();
      }
    }
  }

  private void enterRtr() throws VerbsException {
    IbvQpAttr found = id.initQpAttr(IbvQpState.RTR);
    IbvQpAttr ours = Transitions.toRtr(wanted.port, wanted.local, wanted.remote, wanted.attributes);
    if (found.get("dest_qp_num") != wanted.remote.qpNumber()) {
      throw refused(
          "rdma_cm leads to queue pair 0x" + Integer.toHexString(found.get("dest_qp_num")));
    }
    // The path's partition, where INIT took the port's first: rdma_cm says so among what INIT
    // takes.
    ibv.modify(
        found
            .pkeyIndex(id.initQpAttr(IbvQpState.INIT).get("pkey_index"))
            .pathMtu(smaller(found.pathMtu(), ours.pathMtu()))
            .maxDestRdAtomic(ours.get("max_dest_rd_atomic"))
            .minRnrTimer(ours.get("min_rnr_timer")));
  }

  private static IbvMtu smaller(IbvMtu a, IbvMtu b) {
    return a.value() < b.value() ? a : b;
  }

  private void enterRts() throws VerbsException {
    IbvQpAttr ours =
        Transitions.toRts(wanted.local, wanted.remote, wanted.attributes, device.maxRetryCount());
    ibv.modify(
        id.initQpAttr(IbvQpState.RTS)
            .timeout(ours.get("timeout"))
            .retryCnt(ours.get("retry_cnt"))
            .rnrRetry(ours.get("rnr_retry"))
            .maxRdAtomic(ours.get("max_rd_atomic")));
  }

  /**
   * Accepts a request for this queue pair.
   *
   * @throws VerbsException when it is not to be accepted
   */
  void requested(RdmaCmId requester, int requestingQp, byte[] presented) throws VerbsException {
    synchronized (queuePair) {
      check(requestingQp, presented);
      withdraw();
      id = requester;
      try {
        enterRtr();
        if (readyToSend) {
          enterRts();
        }
        id.accept(param());
        agent.connected(id, this);
      } catch (VerbsException e) {
        id = null;
        throw e;
      }
    }
  }

  /** The token comes first: who does not have it learns nothing. */
  private void check(int requestingQp, byte[] presented) throws VerbsException {
    boolean valid = token != null && System.nanoTime() - tokenEndNanos < 0;
    if (!valid || !MessageDigest.isEqual(token, presented)) {
      throw refused("its token is not valid");
    }
    if (wanted == null || wanted.remote.qpNumber() != requestingQp) {
      throw refused("it does not come from the queue pair that is expected");
    }
  }

  private VerbsException refused(String reason) {
    return new VerbsException(
        "rdma_accept(" + queuePair + ")",
        VerbsException.EACCES,
        "the request is refused: " + reason);
  }

  /** The connection ended. */
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
              "rdma_connect(" + queuePair + ")", VerbsException.EINVAL, "it was closed meanwhile"));
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
