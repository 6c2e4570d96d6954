package dev.sluice.rdma.verbs.cm;

import dev.sluice.rdma.PostException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvAccess;
import dev.sluice.rdma.verbs.ibv.IbvCompChannel;
import dev.sluice.rdma.verbs.ibv.IbvContext;
import dev.sluice.rdma.verbs.ibv.IbvCq;
import dev.sluice.rdma.verbs.ibv.IbvMr;
import dev.sluice.rdma.verbs.ibv.IbvPd;
import dev.sluice.rdma.verbs.ibv.IbvQp;
import dev.sluice.rdma.verbs.ibv.IbvQpCap;
import dev.sluice.rdma.verbs.ibv.IbvQpInitAttr;
import dev.sluice.rdma.verbs.ibv.IbvQpType;
import dev.sluice.rdma.verbs.ibv.IbvRecvWrList;
import dev.sluice.rdma.verbs.ibv.IbvSendWrList;
import dev.sluice.rdma.verbs.ibv.IbvWcArray;
import dev.sluice.rdma.verbs.ibv.IbvWrOpcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/**
 * The short verbs of {@code rdma/rdma_verbs.h}: an id's queue pair with completion queues of its
 * own, one request and one completion at a time. One thread; nobody has to close it, since the id
 * owns all that it made, and the caller's arena its memory.
 */
public final class RdmaVerbs {
  private final IbvPd pd;
  private final IbvQp qp;
  private final IbvCompChannel sendChannel;
  private final IbvCompChannel recvChannel;
  private final IbvCq sendCq;
  private final IbvCq recvCq;
  private final IbvSendWrList sends;
  private final IbvRecvWrList receives;

  /**
   * Creates the queue pair of an id that is bound to a device.
   *
   * @param arena owns the memory of requests, and is to be closed by its owner after the last use
   */
  public RdmaVerbs(RdmaCmId id, IbvQpType type, IbvQpCap cap, Arena arena) throws VerbsException {
    IbvContext context = id.context();
    pd = context.allocPd();
    sendChannel = context.createCompChannel();
    recvChannel = context.createCompChannel();
    sendCq = context.createCq(cap.maxSendWr(), sendChannel, 0);
    recvCq = context.createCq(cap.maxRecvWr(), recvChannel, 0);
    qp = id.createQp(pd, new IbvQpInitAttr(type, sendCq, recvCq, null, cap, false));
    sends = new IbvSendWrList(arena, 1, 1);
    receives = new IbvRecvWrList(arena, 1, 1);
  }

  public IbvQp qp() {
    return qp;
  }

  /** Registers memory for SEND and receive (rdma_reg_msgs(3)). */
  public IbvMr regMsgs(MemorySegment memory) throws VerbsException {
    return pd.regMr(memory, IbvAccess.LOCAL_WRITE);
  }

  /** Registers memory that the peer may READ (rdma_reg_read(3)). */
  public IbvMr regRead(MemorySegment memory) throws VerbsException {
    return pd.regMr(memory, IbvAccess.LOCAL_WRITE | IbvAccess.REMOTE_READ);
  }

  /** Posts a receive (rdma_post_recv(3)). */
  public void postRecv(long wrId, MemorySegment memory, IbvMr mr) throws PostException {
    receives.clear();
    receives.add(wrId).sge(memory.address(), length(memory), mr.lkey());
    qp.postRecv(receives);
  }

  /**
   * Posts a SEND (rdma_post_send(3)).
   *
   * @param mr null for inline data
   * @param flags of {@link dev.sluice.rdma.verbs.ibv.IbvSendFlags}
   */
  public void postSend(long wrId, MemorySegment memory, IbvMr mr, int flags) throws PostException {
    qp.postSend(request(wrId, IbvWrOpcode.SEND, memory, mr, flags));
  }

  /** Posts a READ of the peer's memory into ours (rdma_post_read(3)). */
  public void postRead(
      long wrId, MemorySegment memory, IbvMr mr, int flags, long remoteAddress, int rkey)
      throws PostException {
    qp.postSend(request(wrId, IbvWrOpcode.RDMA_READ, memory, mr, flags).rdma(remoteAddress, rkey));
  }

  private IbvSendWrList request(
      long wrId, IbvWrOpcode opcode, MemorySegment memory, IbvMr mr, int flags) {
    sends.clear();
    return sends
        .add(wrId, opcode, flags)
        .sge(memory.address(), length(memory), mr == null ? 0 : mr.lkey());
  }

  private static int length(MemorySegment memory) {
    return Math.toIntExact(memory.byteSize());
  }

  /**
   * Waits for a completion of the send queue (rdma_get_send_comp(3)).
   *
   * @param into takes one completion
   * @return false after the timeout
   */
  public boolean getSendComp(IbvWcArray into, long timeoutMs) throws VerbsException {
    return await(sendCq, sendChannel, into, timeoutMs);
  }

  /** As {@link #getSendComp}, of the receive queue (rdma_get_recv_comp(3)). */
  public boolean getRecvComp(IbvWcArray into, long timeoutMs) throws VerbsException {
    return await(recvCq, recvChannel, into, timeoutMs);
  }

  /** Polls again after arming: a completion that came in between raises no event. */
  private static boolean await(IbvCq cq, IbvCompChannel channel, IbvWcArray into, long timeoutMs)
      throws VerbsException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    while (cq.poll(into, 1) == 0) {
      cq.requestNotify(false);
      if (cq.poll(into, 1) == 1) {
        return true;
      }
      long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (leftMs <= 0 || channel.awaitEvent(leftMs).isEmpty()) {
        return false;
      }
      cq.acknowledgeEvents();
    }
    return true;
  }
}
