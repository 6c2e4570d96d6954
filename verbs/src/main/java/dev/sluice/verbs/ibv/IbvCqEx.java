// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * A completion queue that is read member by member: {@code struct ibv_cq_ex} (ibv_create_cq_ex(3)).
 *
 * <p>{@link #startPoll} opens a batch at its first completion, {@link #nextPoll} moves to the next
 * completion, and {@link #endPoll} ends the batch. Call endPoll if and only if startPoll returned
 * true. A device may hold a lock during a batch, so one thread does the whole batch.
 *
 * <p>No method allocates. Reading a member that the queue was created without throws EOPNOTSUPP.
 * All methods throw EINVAL after the queue is closed.
 */
public final class IbvCqEx {
  /** Completion members to create the queue with ({@code wc_flags}). Bits. */
  public interface WcFlags {
    int BYTE_LEN = 1;
    int IMM = 1 << 1;
    int QP_NUM = 1 << 2;
    int SRC_QP = 1 << 3;
    int SLID = 1 << 4;
    int SL = 1 << 5;
    int DLID_PATH_BITS = 1 << 6;
    int COMPLETION_TIMESTAMP = 1 << 7;
    int CVLAN = 1 << 8;
    int FLOW_TAG = 1 << 9;
    int TM_INFO = 1 << 10;
    int COMPLETION_TIMESTAMP_WALLCLOCK = 1 << 11;
  }

  /** Functions of the structure, each with the creation flag that it requires. */
  private enum Op {
    START_POLL(-1),
    NEXT_POLL(-1),
    END_POLL(-1),
    WC_READ_OPCODE(-1),
    WC_READ_VENDOR_ERR(-1),
    WC_READ_BYTE_LEN(WcFlags.BYTE_LEN),
    WC_READ_IMM_DATA(WcFlags.IMM),
    WC_READ_QP_NUM(WcFlags.QP_NUM),
    WC_READ_SRC_QP(WcFlags.SRC_QP),
    WC_READ_WC_FLAGS(-1),
    WC_READ_SLID(WcFlags.SLID),
    WC_READ_SL(WcFlags.SL),
    WC_READ_DLID_PATH_BITS(WcFlags.DLID_PATH_BITS),
    WC_READ_COMPLETION_TS(WcFlags.COMPLETION_TIMESTAMP),
    WC_READ_CVLAN(WcFlags.CVLAN),
    WC_READ_FLOW_TAG(WcFlags.FLOW_TAG),
    WC_READ_TM_INFO(WcFlags.TM_INFO),
    WC_READ_COMPLETION_WALLCLOCK_NS(WcFlags.COMPLETION_TIMESTAMP_WALLCLOCK);

    private final long flag;

    Op(long flag) {
      this.flag = flag;
    }
  }

  private static final int ENOENT = VerbsException.ENOENT;
  private static final long STATUS = IbvStructs.CQ_EX.offset("status");
  private static final long WR_ID = IbvStructs.CQ_EX.offset("wr_id");

  private final IbvCq cq;
  private final MemorySegment struct;
  private final InlineFunctions functions;

  /** Operand of calls: a zero {@code struct ibv_poll_cq_attr}, or the tag that a driver writes. */
  private final MemorySegment operand = IbvStructs.WC_TM_INFO.allocate(Arena.ofAuto());

  @SuppressWarnings("restricted")
  IbvCqEx(IbvCq cq, MemorySegment pointer, long wcFlags) {
    this.cq = cq;
    struct = pointer.reinterpret(IbvStructs.CQ_EX.size());
    long first = IbvStructs.CQ_EX.offset("start_poll");
    functions = new InlineFunctions(cq, struct, first, Op.values(), op -> op.flag, wcFlags);
  }

  /** Returns the same queue for all other verbs (ibv_cq_ex_to_cq). It owns this object. */
  public IbvCq cq() {
    return cq;
  }

  /**
   * Starts a batch (ibv_start_poll). Returns false if there is no completion and no batch to end.
   * Throws if the queue is unusable, for example after an overrun.
   */
  public boolean startPoll() throws VerbsException {
    operand.set(JAVA_INT, 0, 0);
    boolean found = found("ibv_start_poll", (int) call(Op.START_POLL, operand.address()));
    Reference.reachabilityFence(operand);
    return found;
  }

  /**
   * Moves to the next completion (ibv_next_poll). Returns false if there is none. Throws if the
   * queue is unusable; the caller still has to end the batch.
   */
  public boolean nextPoll() throws VerbsException {
    return found("ibv_next_poll", readInt(Op.NEXT_POLL));
  }

  /** Ends the batch (ibv_end_poll). */
  public void endPoll() throws VerbsException {
    call(Op.END_POLL, 0);
  }

  public long wrId() throws VerbsException {
    cq.pointer();
    return struct.get(JAVA_LONG, WR_ID);
  }

  /** Status of the request; GENERAL_ERR if only {@link #statusNumber} knows the status. */
  public IbvWcArray.Status status() throws VerbsException {
    return IbvWcArray.statusOf(statusNumber());
  }

  /** Number of the status in C. */
  public int statusNumber() throws VerbsException {
    cq.pointer();
    return struct.get(JAVA_INT, STATUS);
  }

  /** Opcode, a value of {@link IbvWcArray.Opcode}; valid only after success. */
  public int readOpcode() throws VerbsException {
    return readInt(Op.WC_READ_OPCODE);
  }

  public int readVendorErr() throws VerbsException {
    return readInt(Op.WC_READ_VENDOR_ERR);
  }

  public int readByteLen() throws VerbsException {
    return readInt(Op.WC_READ_BYTE_LEN);
  }

  /** Immediate data, as the sender passed them. */
  public int readImmData() throws VerbsException {
    return Integer.reverseBytes(readInt(Op.WC_READ_IMM_DATA));
  }

  /** The key that a SEND_WITH_INV invalidated; requires {@link WcFlags#IMM}. */
  public int readInvalidatedRkey() throws VerbsException {
    return readInt(Op.WC_READ_IMM_DATA);
  }

  public int readQpNum() throws VerbsException {
    return readInt(Op.WC_READ_QP_NUM);
  }

  public int readSrcQp() throws VerbsException {
    return readInt(Op.WC_READ_SRC_QP);
  }

  /** Flags of {@link IbvWcArray.Flags}. */
  public int readWcFlags() throws VerbsException {
    return readInt(Op.WC_READ_WC_FLAGS);
  }

  public int readSlid() throws VerbsException {
    return readInt(Op.WC_READ_SLID);
  }

  public int readSl() throws VerbsException {
    return readInt(Op.WC_READ_SL) & 0xff;
  }

  public int readDlidPathBits() throws VerbsException {
    return readInt(Op.WC_READ_DLID_PATH_BITS) & 0xff;
  }

  /** Time of the completion, in ticks of the device's clock. */
  public long readCompletionTs() throws VerbsException {
    return call(Op.WC_READ_COMPLETION_TS, 0);
  }

  /** Time of the completion, in nanoseconds since 1970. */
  public long readCompletionWallclockNs() throws VerbsException {
    return call(Op.WC_READ_COMPLETION_WALLCLOCK_NS, 0);
  }

  /** VLAN tag of a raw packet. */
  public int readCvlan() throws VerbsException {
    return readInt(Op.WC_READ_CVLAN) & 0xffff;
  }

  public int readFlowTag() throws VerbsException {
    return readInt(Op.WC_READ_FLOW_TAG);
  }

  /** Tag of a message that a tag-matching receive queue took. */
  public long readTmTag() throws VerbsException {
    readTmInfo();
    return operand.get(JAVA_LONG, 0);
  }

  /** The sender's opaque data that came with the tag. */
  public int readTmPriv() throws VerbsException {
    readTmInfo();
    return operand.get(JAVA_INT, Long.BYTES);
  }

  private void readTmInfo() throws VerbsException {
    call(Op.WC_READ_TM_INFO, operand.address());
  }

  private boolean found(String operation, int error) throws VerbsException {
    if (error == 0 || error == ENOENT) {
      return error == 0;
    }
    throw new VerbsException(
        operation + "(" + cq + ")", Math.abs(error), "the completion queue is unusable");
  }

  private int readInt(Op op) throws VerbsException {
    return (int) call(op, 0);
  }

  private long call(Op op, long operand) throws VerbsException {
    return functions.call(op, operand, 0, 0, 0, 0);
  }
}
