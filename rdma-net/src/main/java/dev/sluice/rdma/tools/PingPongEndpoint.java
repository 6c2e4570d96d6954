package dev.sluice.rdma.tools;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvAccess;
import dev.sluice.rdma.verbs.ibv.IbvAh;
import dev.sluice.rdma.verbs.ibv.IbvCq;
import dev.sluice.rdma.verbs.ibv.IbvMr;
import dev.sluice.rdma.verbs.ibv.IbvPd;
import dev.sluice.rdma.verbs.ibv.IbvQp;
import dev.sluice.rdma.verbs.ibv.IbvQpCap;
import dev.sluice.rdma.verbs.ibv.IbvQpInitAttr;
import dev.sluice.rdma.verbs.ibv.IbvRecvWrList;
import dev.sluice.rdma.verbs.ibv.IbvSendFlags;
import dev.sluice.rdma.verbs.ibv.IbvSendWrList;
import dev.sluice.rdma.verbs.ibv.IbvSrq;
import dev.sluice.rdma.verbs.ibv.IbvWrOpcode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * One side of a ping-pong: its queue pairs and its memory. All receives go to the same place, as
 * all messages are the same; the server sends from there, so that the client gets back what it
 * sent. One thread; everything is closed with the port.
 */
final class PingPongEndpoint {
  static final long SEND = 1;
  static final long RECEIVE = 2;

  private static final int PAGE = 4096;

  /** Receives that one call posts. */
  private static final int RECEIVE_LIST = 64;

  private final LocalPort port;
  private final PingPongSettings settings;
  private final IbvPd pd;
  private final IbvSrq srq;
  private final List<IbvQp> qps = new ArrayList<>();
  private final List<QpAddress> addresses = new ArrayList<>();
  private final MemorySegment sent;
  private final MemorySegment received;
  private final IbvMr sendRegion;
  private final IbvMr receiveRegion;
  private final IbvSendWrList send;
  private final IbvRecvWrList receives;
  private IbvAh peer;
  private QpAddress remote;

  /** Makes the queue pairs, in INIT. */
  PingPongEndpoint(LocalPort port, Arena arena, IbvCq cq, PingPongSettings settings)
      throws VerbsException {
    this.port = port;
    this.settings = settings;
    int header = settings.type().headerLength();
    pd = port.context().allocPd();
    MemorySegment receiveMemory = arena.allocate(header + settings.size(), PAGE);
    received = receiveMemory.asSlice(header);
    sent = settings.client() ? arena.allocate(settings.size(), PAGE) : received;
    receiveRegion = pd.regMr(receiveMemory, IbvAccess.LOCAL_WRITE);
    sendRegion = settings.client() ? pd.regMr(sent, IbvAccess.LOCAL_WRITE) : receiveRegion;
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
    IbvQp qp = pd.createQp(new IbvQpInitAttr(settings.type().qpType(), cq, cq, srq, cap, true));
    QueuePairs.toInit(qp, port, 0);
    qps.add(qp);
    addresses.add(port.address(qp.qpNum(), QueuePairs.newPsn()));
  }

  /** Where the C programs check, at the start of each page, there is a zero. */
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
    send.clear();
    send.add(SEND, IbvWrOpcode.SEND, IbvSendFlags.SIGNALED)
        .sge(sent.address(), settings.size(), sendRegion.lkey());
    if (peer != null) {
      send.datagram(peer, remote.qpNumber(), QueuePairs.QKEY);
    }
    qps.get(qp).postSend(send);
  }

  /** Index of the queue pair of a number. */
  int indexOf(int qpNumber) throws IOException {
    for (int i = 0; i < qps.size(); i++) {
      if (addresses.get(i).qpNumber() == qpNumber) {
        return i;
      }
    }
    throw new IOException(
        "a completion of queue pair 0x%06x, which is not ours".formatted(qpNumber));
  }

  /**
   * Compares what was received with what a client sends.
   *
   * @throws IOException with the first byte that differs
   */
  void check() throws IOException {
    long wrong = settings.client() ? sent.mismatch(received) : firstWrongPage();
    if (wrong >= 0) {
      throw new IOException("invalid data at byte " + wrong + " of the message");
    }
  }

  /** A client in C fills no more than the start of each page. */
  private long firstWrongPage() {
    for (long i = 0; i < settings.size(); i += PAGE) {
      if (received.get(JAVA_BYTE, i) != 0) {
        return i;
      }
    }
    return -1;
  }
}
