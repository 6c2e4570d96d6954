// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.ffi.NativeFunction.HEAP;

import dev.sluice.verbs.Gid;
import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CConstant;
import dev.sluice.verbs.ffi.CValue;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;

/**
 * A queue pair: {@code struct ibv_qp} (ibv_create_qp(3)). Its {@link IbvPd} closes it, before
 * regions and shared receive queues; an {@link IbvXrcd} closes those of type XRC_RECV. Any thread
 * may post, but not while another closes it. {@link #modify} takes it to INIT, RTR and RTS.
 */
public final class IbvQp extends NativeObject {
  /** Transport services of a queue pair (ibv_create_qp(3)). */
  public enum Type implements CConstant {
    RC(2),
    UC(3),
    UD(4),
    RAW_PACKET(8),
    XRC_SEND(9),
    XRC_RECV(10),
    DRIVER(0xff);

    private final int value;

    Type(int value) {
      this.value = value;
    }

    @Override
    public int value() {
      return value;
    }
  }

  /** States of a queue pair (ibv_modify_qp(3)). */
  public enum State implements CConstant {
    RESET,
    INIT,
    RTR,
    RTS,
    SQD,
    SQE,
    ERR,
    UNKNOWN
  }

  /** States of automatic path migration ({@code enum ibv_mig_state}). */
  public enum MigState implements CConstant {
    MIGRATED,
    REARM,
    ARMED
  }

  private final IbvOps ops;
  private final boolean datagrams;
  private final boolean receivesOnly;
  private final boolean hasReceiveQueue;
  private final IbvQpCap cap;
  private final long sendOps;

  /** Allows the send operations, of {@link IbvQpEx.SendOps}. */
  IbvQp(
      NativeObject parent,
      IbvContext context,
      MemorySegment pointer,
      IbvQpCap cap,
      long sendOps,
      Destroyer destroyer) {
    super("queue pair", parent, IbvStructs.QP.at(pointer), destroyer, 0);
    this.ops = context.ops();
    this.cap = cap;
    this.sendOps = sendOps;
    datagrams = type().is(Type.UD);
    receivesOnly = type().is(Type.XRC_RECV);
    hasReceiveQueue = !receivesOnly && !type().is(Type.XRC_SEND);
  }

  /** Queue pair number, 24 bits. */
  public int qpNum() {
    return IbvStructs.QP.getInt(struct(), "qp_num");
  }

  public CValue<Type> type() {
    return new CValue<>(Type.class, IbvStructs.QP.getInt(struct(), "qp_type"));
  }

  /** Capacities that the device granted, which may exceed the request. */
  public IbvQpCap cap() {
    return cap;
  }

  /**
   * Changes the state or other attributes (ibv_modify_qp(3)).
   *
   * @throws VerbsException EINVAL for a transition or a set of attributes that is not allowed
   */
  public void modify(IbvQpAttr attr) throws VerbsException {
    LibIbverbs.MODIFY_QP.call(pointer(), attr.write(HEAP), attr.mask());
  }

  /**
   * Asks the device for attributes (ibv_query_qp(3)).
   *
   * @param mask attributes to read, of {@link IbvQpAttr.Mask}; a device may fill in more
   */
  public IbvQpAttr query(int mask) throws VerbsException {
    MemorySegment attr = IbvStructs.QP_ATTR.allocate(HEAP);
    MemorySegment initAttr = IbvStructs.QP_INIT_ATTR.allocate(HEAP);
    LibIbverbs.QUERY_QP.call(pointer(), attr, mask, initAttr);
    return IbvQpAttr.read(attr, mask);
  }

  /**
   * Asks whether data arrive in order (ibv_query_qp_data_in_order(3)).
   *
   * @param flags 1 (RETURN_CAPS) asks for a mask, 2 (DEVICE_ONLY) leaves the bus out of account
   * @return without RETURN_CAPS: 1 if all data of the operation arrive in order, else 0. With it a
   *     mask: bit 0 for all data, bit 1 for aligned blocks of 128 bytes
   * @throws VerbsException ENOSYS with rdma-core before 36
   */
  public int queryDataInOrder(IbvSendWrList.Opcode operation, int flags) throws VerbsException {
    return LibIbverbs.QUERY_QP_DATA_IN_ORDER.call(pointer(), operation.value(), flags);
  }

  /** Asks for the state. UNKNOWN is a number without a constant, which {@link #query} returns. */
  public State queryState() throws VerbsException {
    return query(IbvQpAttr.Mask.STATE).state().known().orElse(State.UNKNOWN);
  }

  /**
   * Posts send requests (ibv_post_send(3)). Any thread. Allocates nothing.
   *
   * @throws PostException EINVAL if the state or the request does not allow it, if the request
   *     lacks an address handle or a memory window that it needs, and after {@link #close}; ENOMEM
   *     if the queue is full. Requests before the bad one are posted
   */
  public void postSend(IbvSendWrList requests) throws PostException {
    long address = requests.addressOf(this, "ibv_post_send");
    if (requests.isEmpty()) {
      return;
    }
    if (receivesOnly) {
      throw noQueue("ibv_post_send", "send queue");
    }
    requests.requireObjects(datagrams);
    requests.post(ops.postSend, address, "ibv_post_send");
  }

  /** Drivers would follow a null pointer. */
  private PostException noQueue(String operation, String queue) {
    return new PostException(
        operation, VerbsException.EINVAL, "a queue pair of type " + type() + " has no " + queue, 0);
  }

  /** Posts receives (ibv_post_recv(3)); otherwise as {@link #postSend}. */
  public void postRecv(IbvRecvWrList requests) throws PostException {
    long address = requests.addressOf(this, "ibv_post_recv");
    if (requests.isEmpty()) {
      return;
    }
    if (!hasReceiveQueue) {
      throw noQueue("ibv_post_recv", "receive queue of its own");
    }
    requests.post(ops.postRecv, address, "ibv_post_recv");
  }

  /**
   * Posts a bind of a type 1 memory window (ibv_bind_mw(3)), which gives the window a new rkey.
   *
   * @param mr region of the memory; an unbind requires it, too
   * @param length bytes; 0 unbinds
   * @param access of {@link IbvMr.Access}
   * @throws VerbsException EINVAL for a type 2 window or without a region, EPERM if window and
   *     region belong to different domains
   */
  public void bindMw(
      IbvMw mw, long wrId, int sendFlags, IbvMr mr, long addr, long length, int access)
      throws VerbsException {
    if (receivesOnly) {
      throw noQueue("ibv_bind_mw", "send queue");
    }
    mw.bind(this, wrId, sendFlags, mr, addr, length, access);
  }

  /** Joins a group with a UD queue pair (ibv_attach_mcast(3)). Its LID is 0 on Ethernet. */
  public void attachMcast(Gid group, int lid) throws VerbsException {
    LibIbverbs.ATTACH_MCAST.call(pointer(), IbvGidEntry.write(group, HEAP), (short) lid);
  }

  /** Leaves a multicast group (ibv_detach_mcast(3)). */
  public void detachMcast(Gid group, int lid) throws VerbsException {
    LibIbverbs.DETACH_MCAST.call(pointer(), IbvGidEntry.write(group, HEAP), (short) lid);
  }

  /**
   * Returns the device's options for the connection (ibv_query_ece(3)), in INIT or later.
   *
   * @throws VerbsException EOPNOTSUPP if the driver has none, ENOSYS with rdma-core before 31
   */
  public IbvEce queryEce() throws VerbsException {
    MemorySegment ece = IbvStructs.ECE.allocate(HEAP);
    LibIbverbs.QUERY_ECE.call(pointer(), ece);
    return IbvEce.read(ece);
  }

  /** Requests the peer's options (ibv_set_ece(3)), before RTR; throws as {@link #queryEce}. */
  public void setEce(IbvEce options) throws VerbsException {
    LibIbverbs.SET_ECE.call(pointer(), options.write(HEAP));
  }

  /**
   * Returns the work request API of this queue pair (ibv_qp_to_qp_ex(3)).
   *
   * @throws VerbsException EOPNOTSUPP for a queue pair that was created without send operations,
   *     ENOSYS with rdma-core before 24
   */
  public IbvQpEx toQpEx() throws VerbsException {
    MemorySegment extended = LibIbverbs.QP_TO_QP_EX.callForPointer(pointer());
    if (extended.address() == 0) {
      throw failure(
          "ibv_qp_to_qp_ex",
          VerbsException.EOPNOTSUPP,
          "it was not created by ibv_create_qp_ex with send operations");
    }
    return new IbvQpEx(this, extended, sendOps);
  }
}
