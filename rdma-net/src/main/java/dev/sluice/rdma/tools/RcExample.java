package dev.sluice.rdma.tools;

import dev.sluice.rdma.Gid;
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
import java.nio.ByteBuffer;

/**
 * One side of the example: a buffer that the peer may READ and WRITE, and an RC queue pair. One
 * thread; everything is closed with the port.
 */
final class RcExample {
  /** Bytes of the buffer. */
  private static final int SIZE = 64;

  /** Address, rkey, queue pair number, LID and GID, all in network byte order. */
  private static final int ADDRESS_LENGTH = 8 + 4 + 4 + 2 + 16;

  private final LocalPort port;
  private final Rendezvous peer;
  private final CompletionWait completions;
  private final MemorySegment buffer;
  private final IbvMr region;
  private final IbvQp qp;
  private final IbvSendWrList sends;
  private final IbvRecvWrList receives;
  private long remoteAddress;
  private int remoteKey;

  RcExample(LocalPort port, Arena arena, Rendezvous peer, Deadline deadline) throws IOException {
    this.port = port;
    this.peer = peer;
    completions = new CompletionWait(port.context(), arena, 1, CompletionMode.SPIN, deadline);
    buffer = arena.allocate(SIZE);
    int access = IbvAccess.LOCAL_WRITE | IbvAccess.REMOTE_READ | IbvAccess.REMOTE_WRITE;
    IbvPd pd = port.context().allocPd();
    region = pd.regMr(buffer, access);
    IbvQpCap cap = new IbvQpCap(1, 1, 1, 1, 0);
    qp = pd.createQp(IbvQpInitAttr.of(IbvQpType.RC, completions.cq(), cap));
    QueuePairs.toInit(qp, port, access);
    sends = new IbvSendWrList(arena, 1, 1);
    receives = new IbvRecvWrList(arena, 1, 1);
  }

  /** Exchanges addresses and takes the queue pair to RTS; both count packets from 0. */
  void connect() throws IOException {
    QpAddress local = port.address(qp.qpNum(), 0);
    peer.write(
        ByteBuffer.allocate(ADDRESS_LENGTH)
            .putLong(region.address())
            .putInt(region.rkey())
            .putInt(local.qpNumber())
            .putShort((short) local.lid())
            .putLong(local.gid().subnetPrefix())
            .putLong(local.gid().interfaceId())
            .array());
    ByteBuffer answer = ByteBuffer.wrap(peer.read(ADDRESS_LENGTH, "its address"));
    remoteAddress = answer.getLong();
    remoteKey = answer.getInt();
    int qpNumber = answer.getInt();
    int lid = Short.toUnsignedInt(answer.getShort());
    QpAddress remote = new QpAddress(lid, qpNumber, 0, new Gid(answer.getLong(), answer.getLong()));
    QueuePairs.toRts(qp, port, 0, remote, port.activeMtu(), 1);
  }

  void postReceive() throws IOException {
    receives.add(0).sge(region.address(), SIZE, region.lkey());
    qp.postRecv(receives);
  }

  /** Sends, reads or writes the whole buffer, and waits until that is done. */
  void transfer(IbvWrOpcode opcode) throws IOException {
    sends.clear();
    sends.add(0, opcode, IbvSendFlags.SIGNALED).sge(region.address(), SIZE, region.lkey());
    if (opcode != IbvWrOpcode.SEND) {
      sends.rdma(remoteAddress, remoteKey);
    }
    qp.postSend(sends);
    completions.await(opcode.toString());
  }

  void awaitMessage() throws IOException {
    completions.await("the server's message");
  }

  /** Waits until both sides have come here. */
  void sync(String reached) throws IOException {
    peer.sync(reached);
  }

  String text() {
    return buffer.getString(0);
  }

  void text(String text) {
    buffer.fill((byte) 0);
    buffer.setString(0, text);
  }
}
