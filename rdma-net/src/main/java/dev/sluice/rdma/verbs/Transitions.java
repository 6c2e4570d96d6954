package dev.sluice.rdma.verbs;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.verbs.ibv.IbvAhAttr;
import dev.sluice.rdma.verbs.ibv.IbvMtu;
import dev.sluice.rdma.verbs.ibv.IbvQpAttr;
import dev.sluice.rdma.verbs.ibv.IbvQpState;
import java.util.Set;

/** The attributes that take an RC queue pair from state to state (ibv_modify_qp(3)). */
final class Transitions {
  private Transitions() {}

  static IbvQpAttr toInit(ChosenPort port, Set<AccessFlag> access) {
    return new IbvQpAttr()
        .state(IbvQpState.INIT)
        .pkeyIndex(port.pKeyIndex())
        .port(port.port().number())
        .accessFlags(AccessFlag.bits(access));
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
      if (mtu.bytes() <= bytes) {
        largest = mtu;
      }
    }
    return largest;
  }
}
