package dev.sluice.rdma.verbs;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvAhAttr;
import dev.sluice.rdma.verbs.ibv.IbvMtu;
import dev.sluice.rdma.verbs.ibv.IbvQpAttr;
import dev.sluice.rdma.verbs.ibv.IbvQpState;
import java.util.Set;

/** The attributes that take an RC queue pair from state to state (ibv_modify_qp(3)). */
final class Transitions {
  private static final int MAX_TIMEOUT_EXPONENT = 31;
  private static final int MAX_RETRIES = 7;
  private static final int MAX_RNR_TIMER = 31;

  private Transitions() {}

  static IbvQpAttr toInit(ChosenPort port, Set<AccessFlag> access) {
    return new IbvQpAttr()
        .state(IbvQpState.INIT)
        .pkeyIndex(port.pKeyIndex())
        .port(port.port().number())
        .accessFlags(AccessFlag.bits(access));
  }

  /**
   * All that the caller may choose for RTR and RTS, before anything is changed.
   *
   * @throws VerbsException EINVAL for what is out of its range
   */
  static void check(VerbsQueuePair queuePair, ConnectionAttributes asked, DeviceAttributes limits)
      throws VerbsException {
    if (isOutside(asked.timeoutExponent(), MAX_TIMEOUT_EXPONENT)
        || isOutside(asked.retryCount(), MAX_RETRIES)
        || isOutside(asked.rnrRetry(), MAX_RETRIES)
        || isOutside(asked.minRnrTimer(), MAX_RNR_TIMER)
        || isOutside(asked.maxRdAtomic(), limits.maxQueuePairInitRdAtomic())) {
      throw new VerbsException(
          "ibv_modify_qp(" + queuePair + ", RTR, " + asked + ")",
          VerbsException.EINVAL,
          "an attribute is out of its range");
    }
  }

  private static boolean isOutside(int value, int max) {
    return value < 0 || value > max;
  }

  static IbvQpAttr toRtr(
      ChosenPort port,
      QueuePairAddress local,
      QueuePairAddress remote,
      ConnectionAttributes attributes) {
    return new IbvQpAttr()
        .state(IbvQpState.RTR)
        .addressVector(addressVector(port, remote))
        .pathMtu(mtu(Math.min(local.mtu(), remote.mtu())))
        .destQpNum(remote.qpNumber())
        .rqPsn(remote.psn())
        .maxDestRdAtomic(local.maxDestRdAtomic())
        .minRnrTimer(attributes.minRnrTimer());
  }

  static IbvQpAttr toRts(
      QueuePairAddress local,
      QueuePairAddress remote,
      ConnectionAttributes attributes,
      int maxRetryCount) {
    return new IbvQpAttr()
        .state(IbvQpState.RTS)
        .timeout(attributes.timeoutExponent())
        .retryCnt(Math.min(attributes.retryCount(), maxRetryCount))
        .rnrRetry(attributes.rnrRetry())
        .sqPsn(local.psn())
        .maxRdAtomic(Math.min(attributes.maxRdAtomic(), remote.maxDestRdAtomic()));
  }

  /**
   * RoCE has no route but the global one. On InfiniBand that leads to other subnets, whose fabric
   * identifier takes the place of the peer's own LID, and is needed where one of both ports shares
   * its LID with others.
   */
  private static IbvAhAttr addressVector(ChosenPort port, QueuePairAddress remote) {
    boolean toOtherSubnet =
        !port.port().isEthernet()
            && GidEntry.subnet(remote.gid()) != GidEntry.subnet(port.gid().gid());
    int fabric = GidEntry.fabricIdentifier(remote.gid());
    return IbvAhAttr.ZERO.with(
        ah -> {
          ah.global =
              port.port().isEthernet()
                  || toOtherSubnet
                  || port.port().requiresGrh()
                  || ControlHandshake.requiresGrh(remote);
          ah.dgid = remote.gid();
          ah.sgidIndex = port.gid().index();
          ah.hopLimit = port.hopLimit();
          ah.trafficClass = port.trafficClass();
          ah.dlid = toOtherSubnet && fabric != 0 ? fabric : remote.lid();
          ah.serviceLevel = port.serviceLevel();
          ah.port = port.port().number();
        });
  }

  /** The largest MTU of the verbs that is not above the bytes. */
  private static IbvMtu mtu(int bytes) {
    IbvMtu largest = IbvMtu.MTU_256;
    for (IbvMtu mtu : IbvMtu.values()) {
      if (ChosenPort.bytes(mtu) <= bytes) {
        largest = mtu;
      }
    }
    return largest;
  }
}
