package dev.sluice.rdma.tools;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvMtu;
import dev.sluice.rdma.verbs.ibv.IbvQp;
import dev.sluice.rdma.verbs.ibv.IbvQpAttr;
import dev.sluice.rdma.verbs.ibv.IbvQpState;
import dev.sluice.rdma.verbs.ibv.IbvQpType;
import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Takes queue pairs from RESET to RTS with the attributes that ibv_modify_qp(3) asks for, in the
 * values that the C programs use.
 */
final class QueuePairs {
  /** Key that the datagram programs agree on. */
  static final int QKEY = 0x11111111;

  /** 0.64 ms, by the table of ibv_modify_qp(3). */
  private static final int MIN_RNR_TIMER = 12;

  /** 67 ms: 4.096 us x 2^14. */
  private static final int TIMEOUT = 14;

  private static final int RETRIES = 7;
  private static final int PSN_BITS = 24;

  private QueuePairs() {}

  /** A random packet sequence number to start from. */
  static int newPsn() {
    return ThreadLocalRandom.current().nextInt(1 << PSN_BITS);
  }

  /**
   * @param access that peers get, of {@link dev.sluice.rdma.verbs.ibv.IbvAccess}
   */
  static void toInit(IbvQp qp, LocalPort port, int access) throws VerbsException {
    IbvQpAttr attr = new IbvQpAttr().state(IbvQpState.INIT).port(port.number()).pkeyIndex(0);
    qp.modify(qp.type() == IbvQpType.UD ? attr.qkey(QKEY) : attr.accessFlags(access));
  }

  /**
   * @param psn of our first packet
   * @param remote ignored by datagrams, which name their destination one by one
   * @param readsInFlight READs and atomics that either side may have under way; of RC only
   */
  static void toRts(
      IbvQp qp, LocalPort port, int psn, QpAddress remote, IbvMtu mtu, int readsInFlight)
      throws IOException {
    IbvQpAttr rtr = new IbvQpAttr().state(IbvQpState.RTR);
    IbvQpAttr rts = new IbvQpAttr().state(IbvQpState.RTS).sqPsn(psn);
    if (qp.type() != IbvQpType.UD) {
      rtr.pathMtu(mtu).destQpNum(remote.qpNumber()).rqPsn(remote.psn());
      rtr.addressVector(port.pathTo(remote));
    }
    if (qp.type() == IbvQpType.RC) {
      rtr.maxDestRdAtomic(readsInFlight).minRnrTimer(MIN_RNR_TIMER);
      rts.timeout(TIMEOUT).retryCnt(RETRIES).rnrRetry(RETRIES).maxRdAtomic(readsInFlight);
    }
    qp.modify(rtr);
    qp.modify(rts);
  }
}
