package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.VerbsException;
import java.lang.foreign.Arena;

/**
 * A chain of {@code struct ibv_send_wr} (ibv_post_send(3)). Each method after {@link #add}
 * completes the request that was added last.
 */
public final class IbvSendWrList extends IbvWrList {
  private static final long OPCODE = IbvStructs.SEND_WR.offset("opcode");
  private static final long SEND_FLAGS = IbvStructs.SEND_WR.offset("send_flags");
  private static final long IMM_DATA = IbvStructs.SEND_WR.offset("imm_data");
  private static final long RDMA_ADDR = IbvStructs.SEND_WR_RDMA.offset("wr.rdma.remote_addr");
  private static final long RDMA_RKEY = IbvStructs.SEND_WR_RDMA.offset("wr.rdma.rkey");
  private static final long ATOMIC_ADDR = IbvStructs.SEND_WR.offset("wr.atomic.remote_addr");
  private static final long ATOMIC_COMPARE_ADD = IbvStructs.SEND_WR.offset("wr.atomic.compare_add");
  private static final long ATOMIC_SWAP = IbvStructs.SEND_WR.offset("wr.atomic.swap");
  private static final long ATOMIC_RKEY = IbvStructs.SEND_WR.offset("wr.atomic.rkey");
  private static final long UD_AH = IbvStructs.SEND_WR_UD.offset("wr.ud.ah");
  private static final long UD_QPN = IbvStructs.SEND_WR_UD.offset("wr.ud.remote_qpn");
  private static final long UD_QKEY = IbvStructs.SEND_WR_UD.offset("wr.ud.remote_qkey");

  /**
   * @param arena owns the memory, and is to be closed by its owner after the last use of the list
   * @param capacity requests
   * @param maxSge scatter/gather entries of a request
   */
  public IbvSendWrList(Arena arena, int capacity, int maxSge) {
    super(arena, IbvStructs.SEND_WR, capacity, maxSge);
  }

  /**
   * Adds a request.
   *
   * @param flags of {@link IbvSendFlags}
   */
  public IbvSendWrList add(long wrId, IbvWrOpcode opcode, int flags) {
    addRequest(wrId);
    set(OPCODE, opcode.value());
    set(SEND_FLAGS, flags);
    return this;
  }

  /**
   * Local memory: source of SEND and WRITE, target of READ and atomics.
   *
   * @param length bytes
   */
  public IbvSendWrList sge(long address, int length, int lkey) {
    addSge(address, length, lkey);
    return this;
  }

  /** Remote memory of a READ or WRITE. */
  public IbvSendWrList rdma(long remoteAddress, int rkey) {
    set(RDMA_ADDR, remoteAddress);
    set(RDMA_RKEY, rkey);
    return this;
  }

  /**
   * Remote memory and operands of an atomic.
   *
   * @param compareAdd what a compare-and-swap compares with, or a fetch-and-add adds
   * @param swap what a compare-and-swap stores
   */
  public IbvSendWrList atomic(long remoteAddress, int rkey, long compareAdd, long swap) {
    set(ATOMIC_ADDR, remoteAddress);
    set(ATOMIC_COMPARE_ADD, compareAdd);
    set(ATOMIC_SWAP, swap);
    set(ATOMIC_RKEY, rkey);
    return this;
  }

  /** Destination of a datagram. */
  public IbvSendWrList datagram(IbvAh ah, int remoteQpNumber, int remoteQkey)
      throws VerbsException {
    set(UD_AH, ah.pointer().address());
    set(UD_QPN, remoteQpNumber);
    set(UD_QKEY, remoteQkey);
    return this;
  }

  /** Immediate data; the wire has them in network byte order, the receiver gets the same number. */
  public IbvSendWrList immediate(int data) {
    set(IMM_DATA, Integer.reverseBytes(data));
    return this;
  }

  /** The key that a LOCAL_INV invalidates here, or a SEND_WITH_INV at the receiver. */
  public IbvSendWrList invalidate(int rkey) {
    set(IMM_DATA, rkey);
    return this;
  }
}
