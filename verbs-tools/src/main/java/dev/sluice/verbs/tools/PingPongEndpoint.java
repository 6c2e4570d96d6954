// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvAh;
import dev.sluice.verbs.ibv.IbvCq;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvPd;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpEx;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvQpInitAttrEx;
import dev.sluice.verbs.ibv.IbvRecvWrList;
import dev.sluice.verbs.ibv.IbvSendWrList;
import dev.sluice.verbs.ibv.IbvSrq;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * One side of a ping-pong: its queue pairs and its memory. All receives share one buffer, because
 * all messages are equal. The server also sends from that buffer, so that the client gets its own
 * data back. {@link PingPongCommand} creates it; {@link PingPong} uses it on the same thread.
 * Closing the port closes everything.
 */
final class PingPongEndpoint {
  static final long SEND = 1;
  static final long RECEIVE = 2;

  /** Distance of the bytes that the C programs check. */
  private static final int PAGE = 4096;

  /** Maximum number of receives per call of ibv_post_recv(3). */
  private static final int RECEIVE_LIST = 64;

  private final LocalPort port;
  private final PingPongSettings settings;
  private final IbvPd pd;
  private final IbvSrq srq;
  private final List<IbvQp> qps = new ArrayList<>();
  private final List<IbvQpEx> extended = new ArrayList<>();
  private final List<QpAddress> addresses = new ArrayList<>();
  private final MemorySegment sent;
  private final MemorySegment received;
  private final IbvMr sendRegion;
  private final IbvMr receiveRegion;
  private final IbvSendWrList send;
  private final IbvRecvWrList receives;
  private IbvAh peer;
  private QpAddress remote;

  /** Creates the queue pairs and takes them to INIT. */
  PingPongEndpoint(LocalPort port, Arena arena, IbvCq cq, PingPongSettings settings)
      throws VerbsException {
    this.port = port;
    this.settings = settings;
    int header = settings.type().headerLength();
    pd = port.context().allocPd();
    MemorySegment receiveMemory = arena.allocate(header + settings.size(), PAGE);
    received = receiveMemory.asSlice(header);
    sent = settings.client() ? arena.allocate(settings.size(), PAGE) : received;
    receiveRegion = pd.regMr(receiveMemory, IbvMr.Access.LOCAL_WRITE);
    sendRegion = settings.client() ? pd.regMr(sent, IbvMr.Access.LOCAL_WRITE) : receiveRegion;
    send = new IbvSendWrList(arena, 1, 1);
    receives = new IbvRecvWrList(arena, RECEIVE_LIST, 1);
    boolean shared = settings.type() == PingPongType.SRQ;
    srq = shared ? pd.createSrq(settings.rxDepth(), 1) : null;
    for (int i = 0; i < settings.queuePairs(); i++) {
      add(cq);
    }
    fill();
  }

  private void add(IbvCq cq) throws VerbsException {
    IbvQpCap cap = new IbvQpCap(1, srq == null ? settings.rxDepth() : 0, 1, 1, 0);
    IbvQpInitAttr attr = new IbvQpInitAttr(settings.type().qpType(), cq, cq, srq, cap, true);
    IbvQp qp;
    if (settings.ext()) {
      qp = pd.createQpEx(IbvQpInitAttrEx.of(attr, IbvQpEx.SendOps.SEND));
      extended.add(qp.toQpEx());
    } else {
      qp = pd.createQp(attr);
    }
    QueuePairs.toInit(qp, port, 0);
    qps.add(qp);
    addresses.add(port.address(qp.qpNum(), QueuePairs.newPsn()));
  }

  /** Fills the memory. The first byte of each page is zero, which the C programs check. */
  private void fill() {
    received.fill((byte) 0x7c);
    if (settings.client()) {
      for (int i = 0; i < settings.size(); i++) {
        sent.set(JAVA_BYTE, i, (byte) i);
      }
    }
  }

  List<QpAddress> addresses() {
    return addresses;
  }

  /** Takes the queue pairs to RTS. */
  void connect(List<QpAddress> remotes) throws IOException {
    for (int i = 0; i < qps.size(); i++) {
      QueuePairs.toRts(qps.get(i), port, addresses.get(i).psn(), remotes.get(i), settings.mtu(), 1);
    }
    if (settings.type() == PingPongType.UD) {
      remote = remotes.getFirst();
      peer = pd.createAh(port.pathTo(remote));
    }
  }

  void postReceives(int count) throws VerbsException {
    for (int posted = 0; posted < count; posted += receives.size()) {
      receives.clear();
      while (receives.size() < RECEIVE_LIST && posted + receives.size() < count) {
        receives
            .add(RECEIVE)
            .sge(receiveRegion.address(), (int) receiveRegion.length(), receiveRegion.lkey());
      }
      if (srq != null) {
        srq.postRecv(receives);
      } else {
        qps.getFirst().postRecv(receives);
      }
    }
  }

  void postSend(int qp) throws VerbsException {
    if (settings.ext()) {
      postSend(extended.get(qp));
      return;
    }
    send.clear();
    send.add(SEND, IbvSendWrList.Opcode.SEND, IbvSendWrList.Flags.SIGNALED)
        .sge(sent.address(), settings.size(), sendRegion.lkey());
    if (peer != null) {
      send.datagram(peer, remote.qpNumber(), QueuePairs.QKEY);
    }
    qps.get(qp).postSend(send);
  }

  private void postSend(IbvQpEx qp) throws VerbsException {
    qp.wrStart();
    qp.wrId(SEND);
    qp.wrFlags(IbvSendWrList.Flags.SIGNALED);
    qp.send();
    if (peer != null) {
      qp.setUdAddr(peer, remote.qpNumber(), QueuePairs.QKEY);
    }
    qp.setSge(sendRegion.lkey(), sent.address(), settings.size());
    qp.wrComplete();
  }

  /** Returns the index of the queue pair with a number. */
  int indexOf(int qpNumber) throws IOException {
    for (int i = 0; i < qps.size(); i++) {
      if (addresses.get(i).qpNumber() == qpNumber) {
        return i;
      }
    }
    throw new IOException(
        "a completion names queue pair 0x%06x, which does not belong to this side"
            .formatted(qpNumber));
  }

  /**
   * Compares the received data with the data that a client sends.
   *
   * @throws IOException if they differ; names the first byte that differs
   */
  void check() throws IOException {
    long wrong = settings.client() ? sent.mismatch(received) : firstWrongPage();
    if (wrong >= 0) {
      throw new IOException("invalid data at byte " + wrong + " of the message");
    }
  }

  /** Returns the first page that does not begin with zero. A client in C fills only page starts. */
  private long firstWrongPage() {
    for (long i = 0; i < settings.size(); i += PAGE) {
      if (received.get(JAVA_BYTE, i) != 0) {
        return i;
      }
    }
    return -1;
  }
}
