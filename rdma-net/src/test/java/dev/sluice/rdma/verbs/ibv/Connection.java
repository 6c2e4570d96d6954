package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.VerbsException;
import java.util.function.UnaryOperator;

/**
 * How the tests bring a queue pair from RESET to RTS: the attributes of each step, and the steps
 * one after the other. Both ends are on the same port.
 */
record Connection(IbvGidEntry gid, int access, IbvMtu mtu, UnaryOperator<IbvQpAttr> rtsChange) {
  static final int PSN = 0x123456;

  Connection(IbvGidEntry gid) {
    this(gid, IbvTestCase.ALL_ACCESS, IbvMtu.MTU_1024, attr -> attr);
  }

  /** With other rights for the peer. */
  Connection access(int flags) {
    return new Connection(gid, flags, mtu, rtsChange);
  }

  /** With packets of another size. */
  Connection mtu(IbvMtu bytes) {
    return new Connection(gid, access, bytes, rtsChange);
  }

  /** With other attributes of the last step. */
  Connection rts(UnaryOperator<IbvQpAttr> change) {
    return new Connection(gid, access, mtu, change);
  }

  /** Brings one end to RTS. */
  void connect(IbvQp qp, IbvQp peer) throws VerbsException {
    connect(qp, peer.qpNum());
  }

  void connect(IbvQp qp, int peerQpNum) throws VerbsException {
    qp.modify(init(qp.type()));
    qp.modify(rtr(qp.type(), peerQpNum));
    qp.modify(rtsChange.apply(rts(qp.type())));
  }

  IbvQpAttr init(IbvQpType type) {
    IbvQpAttr attr = new IbvQpAttr().state(IbvQpState.INIT).pkeyIndex(0).port(IbvTestCase.PORT);
    return switch (type) {
      case RC -> attr.accessFlags(access);
      case UC -> attr.accessFlags(access & IbvAccess.REMOTE_WRITE);
      default -> attr.qkey(IbvTestCase.QKEY);
    };
  }

  IbvQpAttr rtr(IbvQpType type, int peerQpNum) {
    IbvQpAttr attr = new IbvQpAttr().state(IbvQpState.RTR);
    if (type == IbvQpType.UD) {
      return attr;
    }
    attr.pathMtu(mtu).destQpNum(peerQpNum).rqPsn(PSN).addressVector(address());
    return type == IbvQpType.RC ? attr.maxDestRdAtomic(4).minRnrTimer(1) : attr;
  }

  IbvQpAttr rts(IbvQpType type) {
    IbvQpAttr attr = new IbvQpAttr().state(IbvQpState.RTS).sqPsn(PSN);
    return type == IbvQpType.RC ? attr.timeout(14).retryCnt(7).rnrRetry(7).maxRdAtomic(4) : attr;
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
