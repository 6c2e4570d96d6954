package dev.sluice.rdma.tools;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.sluice.rdma.verbs.ibv.IbvAccess;
import dev.sluice.rdma.verbs.ibv.IbvMr;
import dev.sluice.rdma.verbs.ibv.IbvPd;
import dev.sluice.rdma.verbs.ibv.IbvQp;
import dev.sluice.rdma.verbs.ibv.IbvQpCap;
import dev.sluice.rdma.verbs.ibv.IbvQpInitAttr;
import dev.sluice.rdma.verbs.ibv.IbvQpType;
import dev.sluice.rdma.verbs.ibv.IbvRecvWrList;
import dev.sluice.rdma.verbs.ibv.IbvSendFlags;
import dev.sluice.rdma.verbs.ibv.IbvSendWrList;
import dev.sluice.rdma.verbs.ibv.IbvWrOpcode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * One side of a measurement: an RC queue pair, memory of one message for each direction, and lists
 * of work requests that are used again and again. One thread; everything is closed with the port.
 */
final class PerfEndpoint {
  /** What the completions of messages of ours, and of the peer's, have for a {@code wr_id}. */
  static final long SENT = 1;

  static final long RECEIVED = 2;

  private static final VarHandle BYTE = JAVA_BYTE.varHandle();
  private static final int PAGE = 4096;

  /** Bytes of a queue pair's address, an address in memory and a key. */
  private static final int ADDRESS_LENGTH = QpAddress.WIRE_LENGTH + Long.BYTES + Integer.BYTES;

  private final LocalPort port;
  private final PerfParameters parameters;
  private final CompletionWait completions;
  private final MemorySegment outgoing;
  private final MemorySegment incoming;
  private final IbvMr exported;
  private final long sendAddress;
  private final int sendKey;
  private final long receiveAddress;
  private final int receiveKey;
  private final IbvQp qp;
  private final int psn = QueuePairs.newPsn();
  private final IbvSendWrList sends;
  private final IbvRecvWrList receives;
  private long remoteAddress;
  private int remoteKey;

  PerfEndpoint(LocalPort port, Arena arena, PerfParameters parameters, Deadline deadline)
      throws IOException {
    this.port = port;
    this.parameters = parameters;
    int depth = parameters.depth();
    completions =
        new CompletionWait(port.context(), arena, 2 * depth, parameters.completionMode(), deadline);
    outgoing = arena.allocate(parameters.size(), PAGE);
    incoming = arena.allocate(parameters.size(), PAGE);
    IbvPd pd = port.context().allocPd();
    int access = IbvAccess.LOCAL_WRITE | IbvAccess.REMOTE_READ | IbvAccess.REMOTE_WRITE;
    IbvMr outgoingRegion = pd.regMr(outgoing, access);
    IbvMr incomingRegion = pd.regMr(incoming, access);
    // READs fetch what the peer has to give, WRITEs go to where it takes.
    boolean reads = parameters.operation() == PerfOperation.READ;
    exported = reads ? outgoingRegion : incomingRegion;
    sendAddress = (reads ? incoming : outgoing).address();
    sendKey = (reads ? incomingRegion : outgoingRegion).lkey();
    receiveAddress = incoming.address();
    receiveKey = incomingRegion.lkey();
    qp =
        pd.createQp(
            IbvQpInitAttr.of(IbvQpType.RC, completions.cq(), new IbvQpCap(depth, depth, 1, 1, 0)));
    QueuePairs.toInit(qp, port, access);
    sends = new IbvSendWrList(arena, depth, 1);
    receives = new IbvRecvWrList(arena, depth, 1);
    for (long i = 0; i < outgoing.byteSize(); i++) {
      outgoing.set(JAVA_BYTE, i, pattern(i));
    }
    if (parameters.operation() == PerfOperation.SEND) {
      postReceives(depth);
    }
  }

  private static byte pattern(long index) {
    return (byte) (index * 31 + 7);
  }

  PerfParameters parameters() {
    return parameters;
  }

  CompletionWait completions() {
    return completions;
  }

  /** Marks the message that is sent next, in its last byte. */
  void mark(byte value) {
    outgoing.set(JAVA_BYTE, outgoing.byteSize() - 1, value);
  }

  /** The last byte of the last message that the peer wrote here. */
  byte receivedMark() {
    return (byte) BYTE.getVolatile(incoming, incoming.byteSize() - 1);
  }

  /**
   * Whether all came as the peer has it, but for the last byte, which may be a mark.
   *
   * @throws IOException if not
   */
  void check() throws IOException {
    for (long i = 0; i < incoming.byteSize() - 1; i++) {
      if (incoming.get(JAVA_BYTE, i) != pattern(i)) {
        throw new IOException("invalid data at byte " + i + " of the message");
      }
    }
  }

  /** Exchanges addresses and takes the queue pair to RTS; returns when both sides are there. */
  void connect(Rendezvous peer) throws IOException {
    peer.write(
        ByteBuffer.allocate(ADDRESS_LENGTH)
            .put(port.address(qp.qpNum(), psn).toWire())
            .putLong(exported.address())
            .putInt(exported.rkey())
            .array());
    ByteBuffer answer = ByteBuffer.wrap(peer.read(ADDRESS_LENGTH, "its address"));
    byte[] address = new byte[QpAddress.WIRE_LENGTH];
    answer.get(address);
    remoteAddress = answer.getLong();
    remoteKey = answer.getInt();
    QueuePairs.toRts(
        qp,
        port,
        psn,
        QpAddress.fromWire(address),
        port.mtu(parameters.mtu()),
        parameters.readsInFlight());
    peer.sync("that it is connected");
  }

  /**
   * Adds a message to those that {@link #postSends} posts.
   *
   * @param signaled whether its completion is announced
   */
  void addSend(boolean signaled) {
    addSend(parameters.operation().opcode(), signaled ? IbvSendFlags.SIGNALED : 0);
    if (parameters.operation() != PerfOperation.SEND) {
      sends.rdma(remoteAddress, remoteKey);
    }
  }

  /** Adds the message that tells the receiver of SENDs that it is the last. */
  void addLastSend() {
    addSend(IbvWrOpcode.SEND_WITH_IMM, IbvSendFlags.SIGNALED);
  }

  private void addSend(IbvWrOpcode opcode, int flags) {
    sends.add(SENT, opcode, flags).sge(sendAddress, parameters.size(), sendKey);
  }

  void postSends() throws IOException {
    qp.postSend(sends);
    sends.clear();
  }

  void postReceives(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      receives.add(RECEIVED).sge(receiveAddress, parameters.size(), receiveKey);
    }
    qp.postRecv(receives);
    receives.clear();
  }
}
