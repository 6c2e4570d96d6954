// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvAh;
import dev.sluice.verbs.ibv.IbvGrh;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvPd;
import dev.sluice.verbs.ibv.IbvPortAttr;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpEx;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvQpInitAttrEx;
import dev.sluice.verbs.ibv.IbvRecvWrList;
import dev.sluice.verbs.ibv.IbvSendWrList;
import dev.sluice.verbs.ibv.IbvSge;
import dev.sluice.verbs.ibv.IbvSrq;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One side of a ping-pong: queue pairs, memory and message loop. A side answers each message that
 * it receives. On each queue pair, it sends again once its last SEND has completed and a message
 * has arrived. The queue pairs of an SRQ count together. All receives share one buffer, because all
 * messages are equal. The server also sends from that buffer, so that the client gets its own data
 * back. {@link PingPongCommand} uses it once, on one thread. Closing the port closes the verbs
 * objects; the arena must be closed later.
 */
final class PingPong {
  /** The ping-pong programs: ibv_rc_pingpong and its siblings, whose formats each type has. */
  enum Type {
    RC(IbvQp.Type.RC),
    UC(IbvQp.Type.UC),
    UD(IbvQp.Type.UD),
    /** Several RC queue pairs that receive from one queue. */
    SRQ(IbvQp.Type.RC);

    private final IbvQp.Type qpType;

    Type(IbvQp.Type qpType) {
      this.qpType = qpType;
    }
  }

  private static final long SEND = 1;
  private static final long RECEIVE = 2;

  private static final int DEFAULT_SIZE = 4096;
  private static final int DEFAULT_DATAGRAM = 1024;

  /** Distance of the bytes that the C programs check. */
  private static final int PAGE = 4096;

  /** Maximum number of receives per call of ibv_post_recv(3). */
  private static final int RECEIVE_LIST = 64;

  private final PingPongCommand options;
  private final LocalPort port;
  private final IbvPortAttr.Mtu mtu;
  private final int size;
  private final CompletionWait completions;
  private final IbvPd pd;
  private final @Nullable IbvSrq srq;
  private final List<LocalPort.Qp> qps = new ArrayList<>();
  private final List<IbvQpEx> extended = new ArrayList<>();
  private final MemorySegment sent;
  private final MemorySegment received;
  private final IbvSge outgoing;
  private final IbvSge incoming;
  private final IbvSendWrList sends;
  private final IbvRecvWrList receives;

  /** For each queue pair, the completions it waits for: the bits SEND and RECEIVE. */
  private final long[] pending;

  /** Destination of datagrams; null for other types. */
  private @Nullable IbvAh peer;

  private int peerQpNumber;
  private int posted;
  private int sentMessages;
  private int receivedMessages;

  /** Creates the queue pairs and takes them to INIT. Posts receives, before the peer may send. */
  PingPong(PingPongCommand options, LocalPort port, Arena arena) throws IOException {
    this.options = options;
    this.port = port;
    boolean datagrams = options.type == Type.UD;
    mtu = datagrams ? port.activeMtu() : port.mtu(options.mtu);
    size = options.size != null ? options.size : datagrams ? DEFAULT_DATAGRAM : DEFAULT_SIZE;
    if (datagrams && size > mtu.bytes()) {
      throw new IOException(
          port + " has an MTU of " + mtu.bytes() + " bytes, which no datagram may exceed");
    }
    int queuePairs = options.queuePairs();
    completions =
        new CompletionWait(
            port.context(),
            arena,
            options.rxDepth + queuePairs,
            options.events ? CompletionWait.Mode.EVENTS : CompletionWait.Mode.SPIN,
            options,
            options.ext);
    long header = datagrams ? IbvGrh.BYTES : 0;
    pd = port.context().allocPd();
    MemorySegment receiveMemory = arena.allocate(header + size, PAGE);
    received = receiveMemory.asSlice(header);
    sent = options.isClient() ? arena.allocate(size, PAGE) : received;
    IbvMr region = pd.regMr(receiveMemory, IbvMr.Access.LOCAL_WRITE);
    incoming = IbvSge.of(receiveMemory, region);
    outgoing =
        IbvSge.of(sent, options.isClient() ? pd.regMr(sent, IbvMr.Access.LOCAL_WRITE) : region);
    sends = new IbvSendWrList(arena, 1, 1);
    receives = new IbvRecvWrList(arena, RECEIVE_LIST, 1);
    srq = options.type == Type.SRQ ? pd.createSrq(options.rxDepth, 1) : null;
    pending = new long[queuePairs];
    Arrays.fill(pending, RECEIVE);
    for (int i = 0; i < queuePairs; i++) {
      addQp();
    }
    fill();
    postReceives();
  }

  private void addQp() throws VerbsException {
    IbvQpCap cap = new IbvQpCap(1, srq == null ? options.rxDepth : 0, 1, 1, 0);
    IbvQpInitAttr attr =
        new IbvQpInitAttr(options.type.qpType, completions.cq(), completions.cq(), srq, cap, true);
    IbvQp qp;
    if (options.ext) {
      qp = pd.createQpEx(IbvQpInitAttrEx.of(attr, IbvQpEx.SendOps.SEND));
      extended.add(qp.toQpEx());
    } else {
      qp = pd.createQp(attr);
    }
    qps.add(port.toInit(qp, LocalPort.newPsn(), 0));
  }

  /** Fills the memory. The first byte of each page is zero, which the C programs check. */
  private void fill() {
    received.fill((byte) 0x7c);
    if (options.isClient()) {
      for (int i = 0; i < size; i++) {
        sent.set(JAVA_BYTE, i, (byte) i);
      }
    }
  }

  /** Bytes of a message. */
  int size() {
    return size;
  }

  List<QpAddress> addresses() {
    return qps.stream().map(LocalPort.Qp::address).toList();
  }

  /** Takes the queue pairs to RTS. */
  void connect(List<QpAddress> remotes) throws IOException {
    for (int i = 0; i < qps.size(); i++) {
      qps.get(i).connect(remotes.get(i), mtu, 1);
    }
    if (options.type == Type.UD) {
      peer = pd.createAh(port.pathTo(remotes.getFirst()));
      peerQpNumber = remotes.getFirst().qpNumber();
    }
  }

  /** Sends and receives the agreed numbers of messages. Returns the nanoseconds. */
  long play() throws IOException {
    long start = System.nanoTime();
    for (int qp = 0; options.isClient() && qp < qps.size(); qp++) {
      send(qp);
    }
    while (sentMessages < options.iters || receivedMessages < options.iters) {
      int count = completions.await("message " + Math.min(sentMessages, receivedMessages));
      for (int i = 0; i < count; i++) {
        handle(completions.qpNum(i), completions.wrId(i));
      }
    }
    return System.nanoTime() - start;
  }

  private void handle(int qpNumber, long done) throws IOException {
    int qp = indexOf(qpNumber);
    if (done == SEND) {
      sentMessages++;
    } else {
      receivedMessages++;
      posted--;
      if (posted <= qps.size()) {
        postReceives();
      }
    }
    pending[qp] &= ~done;
    if (pending[qp] == 0 && sentMessages < options.iters) {
      send(qp);
    }
  }

  /** Returns the index of the queue pair with a number. */
  private int indexOf(int qpNumber) throws IOException {
    for (int i = 0; i < qps.size(); i++) {
      if (qps.get(i).address().qpNumber() == qpNumber) {
        return i;
      }
    }
    throw new IOException(
        "a completion names queue pair 0x%06x, which does not belong to this side"
            .formatted(qpNumber));
  }

  private void postReceives() throws VerbsException {
    while (posted < options.rxDepth) {
      receives.clear();
      for (; receives.size() < RECEIVE_LIST && posted < options.rxDepth; posted++) {
        receives.add(RECEIVE).sge(incoming.address(), incoming.length(), incoming.lkey());
      }
      if (srq != null) {
        srq.postRecv(receives);
      } else {
        qps.getFirst().qp().postRecv(receives);
      }
    }
  }

  private void send(int qp) throws VerbsException {
    if (options.ext) {
      send(extended.get(qp));
    } else {
      sends.clear();
      sends
          .add(SEND, IbvSendWrList.Opcode.SEND, IbvSendWrList.Flags.SIGNALED)
          .sge(outgoing.address(), outgoing.length(), outgoing.lkey());
      if (peer != null) {
        sends.datagram(peer, peerQpNumber, LocalPort.QKEY);
      }
      qps.get(qp).qp().postSend(sends);
    }
    pending[qp] = SEND | RECEIVE;
  }

  private void send(IbvQpEx qp) throws VerbsException {
    qp.wrStart();
    qp.wrId(SEND);
    qp.wrFlags(IbvSendWrList.Flags.SIGNALED);
    qp.send();
    if (peer != null) {
      qp.setUdAddr(peer, peerQpNumber, LocalPort.QKEY);
    }
    qp.setSge(outgoing.lkey(), outgoing.address(), outgoing.length());
    qp.wrComplete();
  }

  /**
   * Compares the received data with the data that a client sends.
   *
   * @throws IOException if they differ; names the first byte that differs
   */
  void check() throws IOException {
    long wrong = options.isClient() ? sent.mismatch(received) : firstWrongPage();
    if (wrong >= 0) {
      throw new IOException("invalid data at byte " + wrong + " of the message");
    }
  }

  /** Returns the first page that does not begin with zero. A client in C fills only page starts. */
  private long firstWrongPage() {
    for (long i = 0; i < size; i += PAGE) {
      if (received.get(JAVA_BYTE, i) != 0) {
        return i;
      }
    }
    return -1;
  }
}
