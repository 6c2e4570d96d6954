// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvPortAttr;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpAttr;
import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A queue pair of a {@link LocalPort}, and its address. Takes the queue pair from RESET to RTS with
 * the attributes that ibv_modify_qp(3) requires. The values are those of the C programs. Both
 * endpoints and {@link XsrqPingPongCommand} use it on their thread: first {@link #create}, and
 * {@link #connect} once the peer's address is known. Closing the port closes the queue pair.
 */
record LocalQp(IbvQp qp, LocalPort port, QpAddress address) {
  /** Q_Key of the datagram programs. */
  static final int QKEY = 0x11111111;

  /** Code of 0.64 ms in the table of ibv_modify_qp(3). */
  private static final int MIN_RNR_TIMER = 12;

  /** Code of 67 ms: 4.096 us x 2^14. */
  private static final int TIMEOUT = 14;

  /** The maximum; without a receive at the peer (RNR), it means to retry for ever. */
  private static final int RETRIES = 7;

  private static final int PSN_BITS = 24;

  /** Returns a random initial packet sequence number. */
  static int newPsn() {
    return ThreadLocalRandom.current().nextInt(1 << PSN_BITS);
  }

  /**
   * Takes a new queue pair to INIT.
   *
   * @param psn number of the first packet that this side sends
   * @param access rights of peers, of {@link dev.sluice.verbs.ibv.IbvMr.Access}
   */
  static LocalQp create(IbvQp qp, LocalPort port, int psn, int access) throws VerbsException {
    IbvQpAttr attr = new IbvQpAttr().state(IbvQp.State.INIT).port(port.number()).pkeyIndex(0);
    qp.modify(qp.type().is(IbvQp.Type.UD) ? attr.qkey(QKEY) : attr.accessFlags(access));
    return new LocalQp(qp, port, port.address(qp.qpNum(), psn));
  }

  /**
   * Takes the queue pair to RTS.
   *
   * @param remote ignored for datagrams, each of which has its own destination
   * @param readsInFlight number of READs and atomics in flight on either side; only for RC and XRC
   */
  void connect(QpAddress remote, IbvPortAttr.Mtu mtu, int readsInFlight) throws IOException {
    IbvQp.Type type = qp.type().known().orElseThrow();
    boolean receives = type == IbvQp.Type.RC || type == IbvQp.Type.XRC_RECV;
    boolean sends = type == IbvQp.Type.RC || type == IbvQp.Type.XRC_SEND;
    IbvQpAttr rtr = new IbvQpAttr().state(IbvQp.State.RTR);
    IbvQpAttr rts = new IbvQpAttr().state(IbvQp.State.RTS).sqPsn(address.psn());
    if (type != IbvQp.Type.UD) {
      rtr.pathMtu(mtu).destQpNum(remote.qpNumber()).rqPsn(remote.psn());
      rtr.addressVector(port.pathTo(remote));
    }
    if (receives) {
      rtr.maxDestRdAtomic(readsInFlight).minRnrTimer(MIN_RNR_TIMER);
    }
    if (receives || sends) {
      rts.timeout(TIMEOUT);
    }
    if (sends) {
      rts.retryCnt(RETRIES).rnrRetry(RETRIES).maxRdAtomic(readsInFlight);
    }
    qp.modify(rtr);
    qp.modify(rts);
  }
}
