// SPDX-License-Identifier: Apache-2.0
package dev.sluice.examples;

import dev.sluice.verbs.Gid;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CString;
import dev.sluice.verbs.ibv.IbvAhAttr;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvCq;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvPd;
import dev.sluice.verbs.ibv.IbvPortAttr;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpAttr;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvRecvWrList;
import dev.sluice.verbs.ibv.IbvSendWrList;
import dev.sluice.verbs.ibv.IbvWcArray;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Verbs objects of one side ({@code struct resources}): a buffer that the peer may READ and WRITE,
 * a completion queue and an RC queue pair. {@link RcExample#main} and {@code bin/verbs rc-example}
 * make one, and use it on their one thread. Closing the context closes everything but the arena,
 * which is the caller's.
 */
public final class RcEndpoint {
  /** Bytes of the buffer: a text and a zero byte. */
  private static final int MSG_SIZE = RcExample.MSG.length() + 1;

  private static final int ACCESS =
      IbvMr.Access.LOCAL_WRITE | IbvMr.Access.REMOTE_READ | IbvMr.Access.REMOTE_WRITE;

  private final IbvContext context;
  private final IbvAhAttr local;
  private final Deadline deadline;
  private final MemorySegment buffer;
  private final IbvCq cq;
  private final IbvMr mr;
  private final IbvQp qp;
  private final IbvSendWrList sends;
  private final IbvRecvWrList receives;
  private final IbvWcArray completions;

  @SuppressWarnings("NullAway.Init") // set by connect()
  private RcAddress remote;

  /**
   * Creates the objects (resources_create).
   *
   * @param local local end of the path: port, GID index, hop limit and service level
   */
  public RcEndpoint(IbvContext context, Arena arena, IbvAhAttr local, Deadline deadline)
      throws VerbsException {
    this.context = context;
    this.local = local;
    this.deadline = deadline;
    IbvPd pd = context.allocPd();
    cq = context.createCq(1);
    buffer = arena.allocate(MSG_SIZE);
    mr = pd.regMr(buffer, ACCESS);
    qp = pd.createQp(IbvQpInitAttr.of(IbvQp.Type.RC, cq, new IbvQpCap(1, 1, 1, 1, 0)));
    sends = new IbvSendWrList(arena, 1, 1);
    receives = new IbvRecvWrList(arena, 1, 1);
    completions = new IbvWcArray(arena, 1);
  }

  RcAddress address() throws VerbsException {
    int lid = context.queryPort(local.port()).lid();
    Gid gid = local.global() ? context.queryGid(local.port(), local.sgidIndex()) : new Gid(0, 0);
    return new RcAddress(mr.address(), mr.rkey(), qp.qpNum(), lid, gid);
  }

  void modifyToInit() throws VerbsException {
    IbvQpAttr attr = new IbvQpAttr().state(IbvQp.State.INIT).port(local.port());
    qp.modify(attr.pkeyIndex(0).accessFlags(ACCESS));
  }

  void modifyToRtr(RcAddress peer) throws VerbsException {
    remote = peer;
    IbvAhAttr path =
        local.with(
            ah -> {
              ah.dgid = peer.gid();
              ah.dlid = peer.lid();
            });
    qp.modify(
        new IbvQpAttr()
            .state(IbvQp.State.RTR)
            .pathMtu(IbvPortAttr.Mtu.MTU_256)
            .destQpNum(peer.qpNum())
            .rqPsn(0)
            .maxDestRdAtomic(1)
            .minRnrTimer(0x12)
            .addressVector(path));
  }

  void modifyToRts() throws VerbsException {
    IbvQpAttr attr = new IbvQpAttr().state(IbvQp.State.RTS).sqPsn(0).maxRdAtomic(1);
    qp.modify(attr.timeout(0x12).retryCnt(6).rnrRetry(0));
  }

  void postReceive() throws VerbsException {
    receives.clear();
    qp.postRecv(receives.add(0).sge(mr.address(), MSG_SIZE, mr.lkey()));
  }

  void postSend(IbvSendWrList.Opcode opcode) throws VerbsException {
    sends.clear();
    sends.add(0, opcode, IbvSendWrList.Flags.SIGNALED).sge(mr.address(), MSG_SIZE, mr.lkey());
    if (opcode != IbvSendWrList.Opcode.SEND) {
      sends.rdma(remote.address(), remote.rkey());
    }
    qp.postSend(sends);
  }

  @SuppressWarnings("ThreadPriorityCheck") // another process may need this processor to answer
  void pollCompletion() throws IOException {
    while (cq.poll(completions) == 0) {
      deadline.leftMs("a completion");
      Thread.yield();
    }
    if (completions.status(0) != IbvWcArray.Status.SUCCESS) {
      throw new IOException("the work request failed: " + completions.statusText(0));
    }
  }

  String text() {
    return CString.read(buffer);
  }

  void text(String text) {
    CString.write(buffer, text);
  }

  /**
   * The address that one side sends to the other over TCP ({@code struct cm_con_data_t}). It names
   * a buffer and a queue pair.
   *
   * @param address address of the buffer
   * @param rkey rkey of the buffer
   * @param qpNum 24 bits
   * @param lid 16 bits; 0 on Ethernet
   * @param gid zero for none
   */
  record RcAddress(long address, int rkey, int qpNum, int lid, Gid gid) {
    /** Bytes on the wire; all fields are in network byte order. */
    static final int WIRE_LENGTH = 8 + 4 + 4 + 2 + 16;

    byte[] toWire() {
      return ByteBuffer.allocate(WIRE_LENGTH)
          .putLong(address)
          .putInt(rkey)
          .putInt(qpNum)
          .putShort((short) lid)
          .putLong(gid.subnetPrefix())
          .putLong(gid.interfaceId())
          .array();
    }

    static RcAddress fromWire(byte[] bytes) {
      ByteBuffer in = ByteBuffer.wrap(bytes);
      return new RcAddress(
          in.getLong(),
          in.getInt(),
          in.getInt(),
          Short.toUnsignedInt(in.getShort()),
          new Gid(in.getLong(), in.getLong()));
    }
  }
}
