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
 * it receives. On each queue pair, it sends again once its last SEND has completed and the answer
 * has arrived. The queue pairs of an SRQ count together. All receives share one buffer, because all
 * messages are equal. The server also sends from that buffer, so that the client gets its own data
 * back. {@link PingPongCommand} uses it once, on one thread. Closing the port closes everything.
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

  /**
   * Settings. Both sides need the same sizes and numbers of messages.
   *
   * @param size bytes of a message
   * @param mtu path MTU
   * @param rxDepth number of receives to keep posted
   * @param iters total number of messages that each side sends
   * @param queuePairs number of queue pairs; more than one only with {@link Type#SRQ}
   * @param client true for the side that sends first
   * @param ext true to post with the work request API and to poll an extended completion queue
   */
  record Settings(
      Type type,
      int size,
      IbvPortAttr.Mtu mtu,
      int rxDepth,
      int iters,
      int queuePairs,
      boolean client,
      boolean ext) {}

  private static final long SEND = 1;
  private static final long RECEIVE = 2;

  /** Distance of the bytes that the C programs check. */
  private static final int PAGE = 4096;

  /** Maximum number of receives per call of ibv_post_recv(3). */
  private static final int RECEIVE_LIST = 64;

  private final LocalPort port;
  private final Settings settings;
  private final CompletionWait completions;
  private final IbvPd pd;
  private final @Nullable IbvSrq srq;
  private final List<LocalQp> qps = new ArrayList<>();
  private final List<IbvQpEx> extended = new ArrayList<>();
  private final MemorySegment sent;
  private final MemorySegment received;
  private final IbvMr sendRegion;
  private final IbvMr receiveRegion;
  private final IbvSendWrList sends;
  private final IbvRecvWrList receives;

  /** For each queue pair, the completions it waits for: the bits SEND and RECEIVE. */
  private final long[] pending;

  private @Nullable IbvAh peer;

  @SuppressWarnings("NullAway.Init") // set by connect()
  private QpAddress remote;

  private int posted;
  private int sentMessages;
  private int receivedMessages;

  /** Creates the queue pairs and takes them to INIT. Posts receives, before the peer may send. */
  PingPong(LocalPort port, Arena arena, CompletionWait completions, Settings settings)
      throws VerbsException {
    this.port = port;
    this.settings = settings;
    this.completions = completions;
    long header = settings.type == Type.UD ? IbvGrh.BYTES : 0;
    pd = port.context().allocPd();
    MemorySegment receiveMemory = arena.allocate(header + settings.size, PAGE);
    received = receiveMemory.asSlice(header);
    sent = settings.client ? arena.allocate(settings.size, PAGE) : received;
    receiveRegion = pd.regMr(receiveMemory, IbvMr.Access.LOCAL_WRITE);
    sendRegion = settings.client ? pd.regMr(sent, IbvMr.Access.LOCAL_WRITE) : receiveRegion;
    sends = new IbvSendWrList(arena, 1, 1);
    receives = new IbvRecvWrList(arena, RECEIVE_LIST, 1);
    srq = settings.type == Type.SRQ ? pd.createSrq(settings.rxDepth, 1) : null;
    pending = new long[settings.queuePairs];
    Arrays.fill(pending, RECEIVE);
    for (int i = 0; i < settings.queuePairs; i++) {
      addQp();
    }
    fill();
    postReceives();
  }

  private void addQp() throws VerbsException {
    IbvQpCap cap = new IbvQpCap(1, srq == null ? settings.rxDepth : 0, 1, 1, 0);
    IbvQpInitAttr attr =
        new IbvQpInitAttr(settings.type.qpType, completions.cq(), completions.cq(), srq, cap, true);
    IbvQp qp;
    if (settings.ext) {
      qp = pd.createQpEx(IbvQpInitAttrEx.of(attr, IbvQpEx.SendOps.SEND));
      extended.add(qp.toQpEx());
    } else {
      qp = pd.createQp(attr);
    }
    qps.add(LocalQp.create(qp, port, LocalQp.newPsn(), 0));
  }

  /** Fills the memory. The first byte of each page is zero, which the C programs check. */
  private void fill() {
    received.fill((byte) 0x7c);
    if (settings.client) {
      for (int i = 0; i < settings.size; i++) {
        sent.set(JAVA_BYTE, i, (byte) i);
      }
    }
  }

  List<QpAddress> addresses() {
    return qps.stream().map(LocalQp::address).toList();
  }

  /** Takes the queue pairs to RTS. */
  void connect(List<QpAddress> remotes) throws IOException {
    for (int i = 0; i < qps.size(); i++) {
      qps.get(i).connect(remotes.get(i), settings.mtu, 1);
    }
    if (settings.type == Type.UD) {
      remote = remotes.getFirst();
      peer = pd.createAh(port.pathTo(remote));
    }
  }

  /** Sends and receives the agreed numbers of messages. Returns the nanoseconds. */
  long play() throws IOException {
    long start = System.nanoTime();
    for (int qp = 0; settings.client && qp < settings.queuePairs; qp++) {
      send(qp);
    }
    while (sentMessages < settings.iters || receivedMessages < settings.iters) {
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
      if (posted <= settings.queuePairs) {
        postReceives();
      }
    }
    pending[qp] &= ~done;
    if (pending[qp] == 0 && sentMessages < settings.iters) {
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
    while (posted < settings.rxDepth) {
      receives.clear();
      for (; receives.size() < RECEIVE_LIST && posted < settings.rxDepth; posted++) {
        receives
            .add(RECEIVE)
            .sge(receiveRegion.address(), (int) receiveRegion.length(), receiveRegion.lkey());
      }
      if (srq != null) {
        srq.postRecv(receives);
      } else {
        qps.getFirst().qp().postRecv(receives);
      }
    }
  }

  private void send(int qp) throws VerbsException {
    if (settings.ext) {
      send(extended.get(qp));
    } else {
      sends.clear();
      sends
          .add(SEND, IbvSendWrList.Opcode.SEND, IbvSendWrList.Flags.SIGNALED)
          .sge(sent.address(), settings.size, sendRegion.lkey());
      if (peer != null) {
        sends.datagram(peer, remote.qpNumber(), LocalQp.QKEY);
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
      qp.setUdAddr(peer, remote.qpNumber(), LocalQp.QKEY);
    }
    qp.setSge(sendRegion.lkey(), sent.address(), settings.size);
    qp.wrComplete();
  }

  /**
   * Compares the received data with the data that a client sends.
   *
   * @throws IOException if they differ; names the first byte that differs
   */
  void check() throws IOException {
    long wrong = settings.client ? sent.mismatch(received) : firstWrongPage();
    if (wrong >= 0) {
      throw new IOException("invalid data at byte " + wrong + " of the message");
    }
  }

  /** Returns the first page that does not begin with zero. A client in C fills only page starts. */
  private long firstWrongPage() {
    for (long i = 0; i < settings.size; i += PAGE) {
      if (received.get(JAVA_BYTE, i) != 0) {
        return i;
      }
    }
    return -1;
  }
}
