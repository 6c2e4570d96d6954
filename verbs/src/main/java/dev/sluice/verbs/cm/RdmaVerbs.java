// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvAh;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvRecvWrList;
import dev.sluice.verbs.ibv.IbvSendWrList;
import dev.sluice.verbs.ibv.IbvSge;
import dev.sluice.verbs.ibv.IbvSrq;
import dev.sluice.verbs.ibv.IbvWcArray;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The short verbs of {@code rdma/rdma_verbs.h} for the queue pair of one id, with one request and
 * one completion at a time. One thread. The id owns all objects; the caller's arena owns the memory
 * of requests. For rdma_dereg_mr(3) call {@link IbvMr#close}.
 *
 * <p>All posts take these parameters: {@code wrId} comes back with the completion, {@code flags}
 * are of {@link IbvSendWrList.Flags}, and {@code mr} is null for inline data. A {@code v} at the
 * end of a method name stands for several pieces of memory.
 */
public final class RdmaVerbs {
  private final RdmaCmId id;
  private final IbvSendWrList sends;
  private final IbvRecvWrList receives;

  /**
   * @param id has a queue pair of its own, except if only memory is registered
   * @param arena owns the memory; its owner closes it after the last use
   * @param maxSge maximum number of memory pieces of a request
   */
  public RdmaVerbs(RdmaCmId id, Arena arena, int maxSge) {
    this.id = id;
    sends = new IbvSendWrList(arena, 1, maxSge);
    receives = new IbvRecvWrList(arena, 1, maxSge);
  }

  /** Registers memory for SEND and receive (rdma_reg_msgs(3)). */
  public IbvMr regMsgs(MemorySegment memory) throws VerbsException {
    return id.pd().regMr(memory, IbvMr.Access.LOCAL_WRITE);
  }

  /** Registers memory that the peer may READ (rdma_reg_read(3)). */
  public IbvMr regRead(MemorySegment memory) throws VerbsException {
    return id.pd().regMr(memory, IbvMr.Access.LOCAL_WRITE | IbvMr.Access.REMOTE_READ);
  }

  /** Registers memory that the peer may WRITE (rdma_reg_write(3)). */
  public IbvMr regWrite(MemorySegment memory) throws VerbsException {
    return id.pd().regMr(memory, IbvMr.Access.LOCAL_WRITE | IbvMr.Access.REMOTE_WRITE);
  }

  /** Posts a receive (rdma_post_recv(3)). */
  public void postRecv(long wrId, MemorySegment memory, IbvMr mr) throws PostException {
    postRecvv(wrId, List.of(IbvSge.of(memory, mr)));
  }

  /** Posts a receive to the shared receive queue if there is one (rdma_post_recvv(3)). */
  public void postRecvv(long wrId, List<IbvSge> pieces) throws PostException {
    receives.clear();
    receives.add(wrId);
    pieces.forEach(piece -> receives.sge(piece.address(), piece.length(), piece.lkey()));
    IbvSrq srq = id.receivingSrq();
    if (srq != null) {
      srq.postRecv(receives);
    } else {
      qp().postRecv(receives);
    }
  }

  /** Posts a SEND (rdma_post_send(3)). */
  public void postSend(long wrId, MemorySegment memory, IbvMr mr, int flags) throws PostException {
    postSendv(wrId, List.of(IbvSge.of(memory, mr)), flags);
    Reference.reachabilityFence(memory);
  }

  /** Posts a SEND of several pieces, as {@link #postSend} (rdma_post_sendv(3)). */
  public void postSendv(long wrId, List<IbvSge> pieces, int flags) throws PostException {
    qp().postSend(request(wrId, IbvSendWrList.Opcode.SEND, pieces, flags));
  }

  /** Posts a READ of the peer's memory into local memory (rdma_post_read(3)). */
  public void postRead(
      long wrId, MemorySegment memory, IbvMr mr, int flags, long remoteAddress, int rkey)
      throws PostException {
    postReadv(wrId, List.of(IbvSge.of(memory, mr)), flags, remoteAddress, rkey);
  }

  /** Posts a READ into several pieces, as {@link #postRead} (rdma_post_readv(3)). */
  public void postReadv(long wrId, List<IbvSge> pieces, int flags, long remoteAddress, int rkey)
      throws PostException {
    qp().postSend(
            request(wrId, IbvSendWrList.Opcode.RDMA_READ, pieces, flags).rdma(remoteAddress, rkey));
  }

  /** Posts a WRITE of local memory into the peer's (rdma_post_write(3)). */
  public void postWrite(
      long wrId, MemorySegment memory, IbvMr mr, int flags, long remoteAddress, int rkey)
      throws PostException {
    postWritev(wrId, List.of(IbvSge.of(memory, mr)), flags, remoteAddress, rkey);
    Reference.reachabilityFence(memory);
  }

  /** Posts a WRITE of several pieces, as {@link #postWrite} (rdma_post_writev(3)). */
  public void postWritev(long wrId, List<IbvSge> pieces, int flags, long remoteAddress, int rkey)
      throws PostException {
    qp().postSend(
            request(wrId, IbvSendWrList.Opcode.RDMA_WRITE, pieces, flags)
                .rdma(remoteAddress, rkey));
  }

  /** Posts a datagram, with the Q_Key of the UDP port space (rdma_post_ud_send(3)). */
  public void postUdSend(
      long wrId, MemorySegment memory, IbvMr mr, int flags, IbvAh ah, int remoteQpNum)
      throws VerbsException {
    qp().postSend(
            request(wrId, IbvSendWrList.Opcode.SEND, List.of(IbvSge.of(memory, mr)), flags)
                .datagram(ah, remoteQpNum, RdmaUdParam.UDP_QKEY));
    Reference.reachabilityFence(memory);
  }

  private IbvQp qp() throws PostException {
    IbvQp qp = id.qp();
    if (qp == null) {
      throw new PostException(
          "posting to " + id, VerbsException.EINVAL, "it has no queue pair of its own", 0);
    }
    return qp;
  }

  private IbvSendWrList request(
      long wrId, IbvSendWrList.Opcode opcode, List<IbvSge> pieces, int flags) {
    sends.clear();
    sends.add(wrId, opcode, flags);
    pieces.forEach(piece -> sends.sge(piece.address(), piece.length(), piece.lkey()));
    return sends;
  }

  /**
   * Waits for a completion of the send queue (rdma_get_send_comp(3)).
   *
   * @param into receives one completion
   * @return false after the timeout
   * @throws VerbsException EINVAL if the completion queue is not the id's own
   */
  public boolean getSendComp(IbvWcArray into, long timeoutMs) throws VerbsException {
    return await(id.sendQueue(), into, timeoutMs);
  }

  /** Waits for a receive completion, as {@link #getSendComp} (rdma_get_recv_comp(3)). */
  public boolean getRecvComp(IbvWcArray into, long timeoutMs) throws VerbsException {
    return await(id.recvQueue(), into, timeoutMs);
  }

  /** Waits for a completion. Polls again after arming: an earlier completion raises no event. */
  private boolean await(RdmaCmIdObjects.@Nullable Queue queue, IbvWcArray into, long timeoutMs)
      throws VerbsException {
    if (queue == null) {
      throw VerbsException.invalid("completion of " + id, "it has no completion queue of its own");
    }
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    while (queue.cq().poll(into, 1) == 0) {
      queue.cq().requestNotify(false);
      if (queue.cq().poll(into, 1) == 1) {
        return true;
      }
      long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (leftMs <= 0 || queue.channel().awaitEvent(leftMs).isEmpty()) {
        return false;
      }
      queue.cq().acknowledgeEvents();
    }
    return true;
  }
}
