// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.VerbsException;
import java.util.function.UnaryOperator;

/**
 * Takes a queue pair from RESET to RTS: attributes of each step, and the sequence of steps. Both
 * ends are on the same port.
 */
record Connection(
    IbvGidEntry gid,
    int access,
    IbvPortAttr.Mtu mtu,
    int destRdAtomic,
    UnaryOperator<IbvQpAttr> rtsChange) {
  static final int PSN = 0x123456;

  Connection(IbvGidEntry gid) {
    this(gid, IbvTestCase.ALL_ACCESS, IbvPortAttr.Mtu.MTU_1024, 4, attr -> attr);
  }

  /** Returns a connection with other rights for the peer. */
  Connection access(int flags) {
    return new Connection(gid, flags, mtu, destRdAtomic, rtsChange);
  }

  /** Returns a connection with another path MTU. */
  Connection mtu(IbvPortAttr.Mtu bytes) {
    return new Connection(gid, access, bytes, destRdAtomic, rtsChange);
  }

  /** Returns a connection that serves this number of READs and atomics of the peer at a time. */
  Connection destRdAtomic(int count) {
    return new Connection(gid, access, mtu, count, rtsChange);
  }

  /** Returns a connection with other attributes in the last step. */
  Connection rts(UnaryOperator<IbvQpAttr> change) {
    return new Connection(gid, access, mtu, destRdAtomic, change);
  }

  /** Takes one end to RTS. */
  void connect(IbvQp qp, IbvQp peer) throws VerbsException {
    connect(qp, peer.qpNum());
  }

  void connect(IbvQp qp, int peerQpNum) throws VerbsException {
    IbvQp.Type type = qp.type().known().orElseThrow();
    qp.modify(init(type));
    qp.modify(rtr(type, peerQpNum));
    qp.modify(rtsChange.apply(rts(type)));
  }

  IbvQpAttr init(IbvQp.Type type) {
    IbvQpAttr attr = new IbvQpAttr().state(IbvQp.State.INIT).pkeyIndex(0).port(IbvTestCase.PORT);
    return switch (type) {
      case RC -> attr.accessFlags(access);
      case UC -> attr.accessFlags(access & IbvMr.Access.REMOTE_WRITE);
      default -> attr.qkey(IbvTestCase.QKEY);
    };
  }

  IbvQpAttr rtr(IbvQp.Type type, int peerQpNum) {
    IbvQpAttr attr = new IbvQpAttr().state(IbvQp.State.RTR);
    if (type == IbvQp.Type.UD) {
      return attr;
    }
    attr.pathMtu(mtu).destQpNum(peerQpNum).rqPsn(PSN).addressVector(address());
    return type == IbvQp.Type.RC ? attr.maxDestRdAtomic(destRdAtomic).minRnrTimer(1) : attr;
  }

  IbvQpAttr rts(IbvQp.Type type) {
    IbvQpAttr attr = new IbvQpAttr().state(IbvQp.State.RTS).sqPsn(PSN);
    return type == IbvQp.Type.RC ? attr.timeout(14).retryCnt(7).rnrRetry(7).maxRdAtomic(4) : attr;
  }

  IbvAhAttr address() {
    return IbvAhAttr.ZERO.with(
        ah -> {
          ah.global = true;
          ah.dgid = gid.gid();
          ah.sgidIndex = gid.index();
          ah.hopLimit = 64;
          ah.port = IbvTestCase.PORT;
        });
  }
}
