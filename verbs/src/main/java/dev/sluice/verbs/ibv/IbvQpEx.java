// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CConstant;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * The work request API of a queue pair: {@code struct ibv_qp_ex} (ibv_wr_post(3)).
 *
 * <p>{@link #wrStart} opens a batch. Each request sets {@link #wrId} and {@link #wrFlags}, calls
 * one operation, such as {@link #rdmaRead}, and then the setters for its data and destination.
 * {@link #wrComplete} posts the batch; {@link #wrAbort} drops it. A device may hold a lock from
 * start to complete, so one thread does the whole batch and always ends it.
 *
 * <p>No method allocates. An operation that the queue pair was created without throws EOPNOTSUPP.
 * All methods throw EINVAL after the queue pair is closed.
 */
public final class IbvQpEx {
  /** Operations to create a queue pair with ({@code send_ops_flags}). Bits. */
  public interface SendOps {
    int RDMA_WRITE = 1;
    int RDMA_WRITE_WITH_IMM = 1 << 1;
    int SEND = 1 << 2;
    int SEND_WITH_IMM = 1 << 3;
    int RDMA_READ = 1 << 4;
    int ATOMIC_CMP_AND_SWP = 1 << 5;
    int ATOMIC_FETCH_AND_ADD = 1 << 6;
    int LOCAL_INV = 1 << 7;
    int BIND_MW = 1 << 8;
    int SEND_WITH_INV = 1 << 9;
    int TSO = 1 << 10;
    int ATOMIC_WRITE = 1 << 12;

    /** Since rdma-core 46. A long, because older headers lack it. */
    long FLUSH = 1 << 11;
  }

  /** Places where a flush makes writes visible ({@code enum ibv_placement_type}). Bits. */
  public interface PlacementType {
    int GLOBAL = 1;
    int PERSISTENT = 1 << 1;
  }

  /** Extents of a flush ({@code enum ibv_selectivity_level}). */
  public enum SelectivityLevel implements CConstant {
    RANGE,
    MR
  }

  /** Functions of the structure, each with the creation flag that it requires. */
  private enum Op {
    WR_ATOMIC_CMP_SWP(SendOps.ATOMIC_CMP_AND_SWP),
    WR_ATOMIC_FETCH_ADD(SendOps.ATOMIC_FETCH_AND_ADD),
    WR_BIND_MW(SendOps.BIND_MW),
    WR_LOCAL_INV(SendOps.LOCAL_INV),
    WR_RDMA_READ(SendOps.RDMA_READ),
    WR_RDMA_WRITE(SendOps.RDMA_WRITE),
    WR_RDMA_WRITE_IMM(SendOps.RDMA_WRITE_WITH_IMM),
    WR_SEND(SendOps.SEND),
    WR_SEND_IMM(SendOps.SEND_WITH_IMM),
    WR_SEND_INV(SendOps.SEND_WITH_INV),
    WR_SEND_TSO(SendOps.TSO),
    WR_SET_UD_ADDR(-1),
    WR_SET_XRC_SRQN(-1),
    WR_SET_INLINE_DATA(-1),
    WR_SET_INLINE_DATA_LIST(-1),
    WR_SET_SGE(-1),
    WR_SET_SGE_LIST(-1),
    WR_START(-1),
    WR_COMPLETE(-1),
    WR_ABORT(-1),
    WR_ATOMIC_WRITE(SendOps.ATOMIC_WRITE),
    WR_FLUSH(SendOps.FLUSH);

    private final long flag;

    Op(long flag) {
      this.flag = flag;
    }
  }

  private static final long WR_ID = IbvStructs.QP_EX.offset("wr_id");
  private static final long WR_FLAGS = IbvStructs.QP_EX.offset("wr_flags");

  private final IbvQp qp;
  private final MemorySegment struct;
  private final InlineFunctions functions;

  /** Operands that C takes by pointer and copies. A {@code struct ibv_mw_bind_info} fits. */
  private final MemorySegment operand = IbvStructs.MW_BIND_INFO.allocate(Arena.ofAuto());

  @SuppressWarnings("restricted")
  IbvQpEx(IbvQp qp, MemorySegment pointer, long sendOps) {
    this.qp = qp;
    struct = pointer.reinterpret(IbvStructs.QP_EX.size() + Long.BYTES); // includes wr_flush
    long first = IbvStructs.QP_EX.offset("wr_atomic_cmp_swp");
    functions = new InlineFunctions(qp, struct, first, Op.values(), op -> op.flag, sendOps);
  }

  /** Returns the queue pair itself. */
  public IbvQp qp() {
    return qp;
  }

  /** Sets the number that identifies the next request's completion. */
  public void wrId(long wrId) throws VerbsException {
    qp.pointer();
    struct.set(JAVA_LONG, WR_ID, wrId);
  }

  /**
   * Sets the flags of the requests that follow.
   *
   * @param flags of {@link IbvSendWrList.Flags}; only soft-RoCE needs INLINE for inline data
   */
  public void wrFlags(int flags) throws VerbsException {
    qp.pointer();
    struct.set(JAVA_INT, WR_FLAGS, flags);
  }

  public void wrStart() throws VerbsException {
    call(Op.WR_START);
  }

  /**
   * Posts the requests since {@link #wrStart}.
   *
   * @throws VerbsException ENOMEM if they do not fit into the queue, EINVAL if one of them is not
   *     allowed; none of them is posted
   */
  public void wrComplete() throws VerbsException {
    int error = call(Op.WR_COMPLETE, 0, 0, 0, 0, 0);
    if (error != 0) {
      throw new VerbsException(
          "ibv_wr_complete(" + qp + ")", Math.abs(error), "none of the requests is posted");
    }
  }

  public void wrAbort() throws VerbsException {
    call(Op.WR_ABORT);
  }

  public void rdmaRead(int rkey, long remoteAddress) throws VerbsException {
    call(Op.WR_RDMA_READ, rkey, remoteAddress);
  }

  public void rdmaWrite(int rkey, long remoteAddress) throws VerbsException {
    call(Op.WR_RDMA_WRITE, rkey, remoteAddress);
  }

  /** Passes immediate data: the receiver gets the same number. */
  public void rdmaWriteImm(int rkey, long remoteAddress, int immediate) throws VerbsException {
    call(Op.WR_RDMA_WRITE_IMM, rkey, remoteAddress, Integer.reverseBytes(immediate));
  }

  public void send() throws VerbsException {
    call(Op.WR_SEND);
  }

  /** Passes immediate data: the receiver gets the same number. */
  public void sendImm(int immediate) throws VerbsException {
    call(Op.WR_SEND_IMM, Integer.reverseBytes(immediate));
  }

  /** Sends, and lets the receiver's device invalidate a key of the receiver. */
  public void sendInv(int rkey) throws VerbsException {
    call(Op.WR_SEND_INV, rkey);
  }

  public void localInv(int rkey) throws VerbsException {
    call(Op.WR_LOCAL_INV, rkey);
  }

  public void atomicCmpSwp(int rkey, long remoteAddress, long compare, long swap)
      throws VerbsException {
    call(Op.WR_ATOMIC_CMP_SWP, rkey, remoteAddress, compare, swap, 0);
  }

  public void atomicFetchAdd(int rkey, long remoteAddress, long add) throws VerbsException {
    call(Op.WR_ATOMIC_FETCH_ADD, rkey, remoteAddress, add);
  }

  /** Writes 8 bytes atomically, in this machine's byte order (rdma-core 44). */
  public void atomicWrite(int rkey, long remoteAddress, long value) throws VerbsException {
    operand.set(JAVA_LONG, 0, value);
    call(Op.WR_ATOMIC_WRITE, rkey, remoteAddress, operand.address());
    Reference.reachabilityFence(operand);
  }

  /** Makes earlier writes visible at the peer by {@link PlacementType} (rdma-core 46). */
  public void flush(int rkey, long remoteAddress, long length, int type, SelectivityLevel level)
      throws VerbsException {
    call(Op.WR_FLUSH, rkey, remoteAddress, length, type, level.value());
  }

  /**
   * Binds a memory window to memory of a region.
   *
   * @param mw of type 2
   * @param rkey the window's key from then on
   * @param access of {@link IbvMr.Access}
   */
  public void bindMw(IbvMw mw, int rkey, IbvMr mr, long start, long length, int access)
      throws VerbsException {
    IbvStructs.MW_BIND_INFO.set(operand, "mr", mr.pointer());
    IbvStructs.MW_BIND_INFO.set(operand, "addr", start);
    IbvStructs.MW_BIND_INFO.set(operand, "length", length);
    IbvStructs.MW_BIND_INFO.set(operand, "mw_access_flags", access);
    call(Op.WR_BIND_MW, mw.pointer().address(), rkey, operand.address());
    Reference.reachabilityFence(operand);
  }

  /** Sets the request's only piece of local memory. */
  public void setSge(int lkey, long localAddress, int length) throws VerbsException {
    call(Op.WR_SET_SGE, lkey, localAddress, length);
  }

  /** Sets the request's pieces of local memory. */
  public void setSgeList(IbvSgeList entries) throws VerbsException {
    call(Op.WR_SET_SGE_LIST, entries.size(), entries.address());
    Reference.reachabilityFence(entries);
  }

  /** Sets inline data: bytes that the call copies and that need no region. */
  public void setInlineData(long localAddress, long length) throws VerbsException {
    call(Op.WR_SET_INLINE_DATA, localAddress, length);
  }

  /** Sets inline data from several places, which {@link IbvSgeList#addInline} added. */
  public void setInlineDataList(IbvSgeList buffers) throws VerbsException {
    call(Op.WR_SET_INLINE_DATA_LIST, buffers.size(), buffers.address());
    Reference.reachabilityFence(buffers);
  }

  /** Sets the destination of a datagram. */
  public void setUdAddr(IbvAh ah, int remoteQpNumber, int remoteQkey) throws VerbsException {
    call(Op.WR_SET_UD_ADDR, ah.pointer().address(), remoteQpNumber, remoteQkey);
  }

  /** Sets the peer's shared receive queue, for an XRC queue pair. */
  public void setXrcSrqn(int remoteSrqNumber) throws VerbsException {
    call(Op.WR_SET_XRC_SRQN, remoteSrqNumber);
  }

  private void call(Op op) throws VerbsException {
    call(op, 0, 0, 0, 0, 0);
  }

  private void call(Op op, long a) throws VerbsException {
    call(op, a, 0, 0, 0, 0);
  }

  private void call(Op op, long a, long b) throws VerbsException {
    call(op, a, b, 0, 0, 0);
  }

  private void call(Op op, long a, long b, long c) throws VerbsException {
    call(op, a, b, c, 0, 0);
  }

  private int call(Op op, long a, long b, long c, long d, long e) throws VerbsException {
    return (int) functions.call(op, a, b, c, d, e);
  }
}
