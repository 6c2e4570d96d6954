// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.verbs.PortChooser.ChosenPort;
import dev.sluice.rdma.verbs.VerbsQueuePair.Handshake;
import dev.sluice.verbs.ibv.IbvAhAttr;
import dev.sluice.verbs.ibv.IbvPortAttr;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpAttr;
import java.util.Set;

/**
 * Builds the attributes for each state change of an RC queue pair (ibv_modify_qp(3)). The queue
 * pair and its {@link Handshake} call it. No state.
 */
final class Transitions {
  private Transitions() {}

  static IbvQpAttr toInit(ChosenPort port, Set<AccessFlag> access) {
    return new IbvQpAttr()
        .state(IbvQp.State.INIT)
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
        .state(IbvQp.State.RTR)
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
        .state(IbvQp.State.RTS)
        .timeout(attributes.timeoutExponent())
        .retryCnt(Math.min(attributes.retryCount(), maxRetryCount))
        .rnrRetry(attributes.rnrRetry())
        .sqPsn(local.psn())
        .maxRdAtomic(Math.min(attributes.maxRdAtomic(), remote.maxDestRdAtomic()));
  }

  /**
   * RoCE always needs the global route. InfiniBand needs it to reach other subnets, and if one of
   * the two ports shares its LID with others. To another subnet, the fabric identifier, if any,
   * replaces the peer's LID.
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

  /** The largest MTU of the verbs that does not exceed this number of bytes. */
  private static IbvPortAttr.Mtu mtu(int bytes) {
    IbvPortAttr.Mtu largest = IbvPortAttr.Mtu.MTU_256;
    for (IbvPortAttr.Mtu mtu : IbvPortAttr.Mtu.values()) {
      if (mtu.bytes() <= bytes) {
        largest = mtu;
      }
    }
    return largest;
  }
}
