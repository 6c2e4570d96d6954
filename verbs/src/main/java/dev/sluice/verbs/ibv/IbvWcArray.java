// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CConstant;
import dev.sluice.verbs.ffi.CValue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.LongStream;

/**
 * Work completions: an array of {@code struct ibv_wc} that {@link IbvCq#poll} fills again and
 * again. One thread at a time. The caller's arena owns the memory; after the arena is closed, each
 * use throws an IllegalStateException.
 */
public final class IbvWcArray {
  /** Status of a work request (ibv_poll_cq(3)). */
  public enum Status implements CConstant {
    SUCCESS,
    LOC_LEN_ERR,
    LOC_QP_OP_ERR,
    LOC_EEC_OP_ERR,
    LOC_PROT_ERR,
    WR_FLUSH_ERR,
    MW_BIND_ERR,
    BAD_RESP_ERR,
    LOC_ACCESS_ERR,
    REM_INV_REQ_ERR,
    REM_ACCESS_ERR,
    REM_OP_ERR,
    RETRY_EXC_ERR,
    RNR_RETRY_EXC_ERR,
    LOC_RDD_VIOL_ERR,
    REM_INV_RD_REQ_ERR,
    REM_ABORT_ERR,
    INV_EECN_ERR,
    INV_EEC_STATE_ERR,
    FATAL_ERR,
    RESP_TIMEOUT_ERR,
    GENERAL_ERR,
    TM_ERR,
    TM_RNDV_INCOMPLETE
  }

  /** Operations of completed work requests (ibv_poll_cq(3)). */
  public enum Opcode implements CConstant {
    SEND(0),
    RDMA_WRITE(1),
    RDMA_READ(2),
    COMP_SWAP(3),
    FETCH_ADD(4),
    BIND_MW(5),
    LOCAL_INV(6),
    TSO(7),
    FLUSH(8),
    ATOMIC_WRITE(9),
    RECV(128),
    RECV_RDMA_WITH_IMM(129),
    TM_ADD(130),
    TM_DEL(131),
    TM_SYNC(132),
    TM_RECV(133),
    TM_NO_TAG(134),
    DRIVER1(135),
    DRIVER2(136),
    DRIVER3(137);

    private final int value;

    Opcode(int value) {
      this.value = value;
    }

    @Override
    public int value() {
      return value;
    }
  }

  /** Further contents of a work completion (ibv_poll_cq(3)). Bits, to be combined by {@code |}. */
  public interface Flags {
    int GRH = 1;
    int WITH_IMM = 1 << 1;
    int IP_CSUM_OK = 1 << 2;
    int WITH_INV = 1 << 3;
    int TM_SYNC_REQ = 1 << 4;
    int TM_MATCH = 1 << 5;
    int TM_DATA_VALID = 1 << 6;
  }

  private static final long SIZE = IbvStructs.WC.size();
  private static final long STATUS = IbvStructs.WC.offset("status");
  private static final long OPCODE = IbvStructs.WC.offset("opcode");
  private static final long VENDOR_ERR = IbvStructs.WC.offset("vendor_err");
  private static final long BYTE_LEN = IbvStructs.WC.offset("byte_len");
  private static final long IMM_DATA = IbvStructs.WC.offset("imm_data");
  private static final long QP_NUM = IbvStructs.WC.offset("qp_num");
  private static final long SRC_QP = IbvStructs.WC.offset("src_qp");
  private static final long WC_FLAGS = IbvStructs.WC.offset("wc_flags");
  private static final long PKEY_INDEX = IbvStructs.WC.offset("pkey_index");
  private static final long SLID = IbvStructs.WC.offset("slid");
  private static final long SL = IbvStructs.WC.offset("sl");
  private static final long DLID_PATH_BITS = IbvStructs.WC.offset("dlid_path_bits");
  private static final Status[] STATUSES = Status.values();

  private final MemorySegment memory;
  private final MemorySegment.Scope scope;
  private final long address;

  /**
   * Address of each completion. If it were a multiple of the index, C2 of JDK 21 would split the
   * caller's loop over completions in two, which costs 3 ns a poll.
   */
  private final long[] addresses;

  /** The arena owns the memory; its owner closes it after the last use of the array. */
  public IbvWcArray(Arena arena, int capacity) {
    memory = arena.allocate(capacity * SIZE, Long.BYTES);
    scope = memory.scope();
    address = memory.address();
    addresses = LongStream.iterate(address, a -> a + SIZE).limit(capacity).toArray();
  }

  public int capacity() {
    return addresses.length;
  }

  public long wrId(int index) {
    return IbvStructs.ALL.get(JAVA_LONG_UNALIGNED, at(index));
  }

  /** Status of the request; GENERAL_ERR if only {@link #statusNumber} knows the status. */
  public Status status(int index) {
    return statusOf(statusNumber(index));
  }

  /** Number of the status in C. */
  public int statusNumber(int index) {
    return get(index, STATUS);
  }

  static Status statusOf(int status) {
    return status >= 0 && status < STATUSES.length ? STATUSES[status] : Status.GENERAL_ERR;
  }

  /** The status in words (ibv_wc_status_str(3)). */
  public String statusText(int index) throws VerbsException {
    return LibIbverbs.WC_STATUS_STR.callForString(statusNumber(index));
  }

  /** The completed operation; valid only after success. */
  public CValue<Opcode> opcode(int index) {
    return new CValue<>(Opcode.class, get(index, OPCODE));
  }

  /** The device's own error code. */
  public int vendorError(int index) {
    return get(index, VENDOR_ERR);
  }

  /** Number of bytes received or READ; undefined for SEND and WRITE. */
  public int byteLength(int index) {
    return get(index, BYTE_LEN);
  }

  /** Immediate data as the sender passed them; valid if WITH_IMM is among the flags. */
  public int immediate(int index) {
    return Integer.reverseBytes(get(index, IMM_DATA));
  }

  /** The key that a SEND_WITH_INV invalidated; valid if WITH_INV is among the flags. */
  public int invalidatedRkey(int index) {
    return get(index, IMM_DATA);
  }

  /** Number of the local queue pair. */
  public int qpNum(int index) {
    return get(index, QP_NUM);
  }

  /** Number of the sender's queue pair, for a datagram. */
  public int srcQp(int index) {
    return get(index, SRC_QP);
  }

  /** Flags of {@link Flags}. */
  public int flags(int index) {
    return get(index, WC_FLAGS);
  }

  /** Index of the packet's partition key; only for GSI queue pairs. */
  public int pkeyIndex(int index) {
    return Short.toUnsignedInt(IbvStructs.ALL.get(JAVA_SHORT_UNALIGNED, at(index) + PKEY_INDEX));
  }

  /** LID of a datagram's sender; 0 on Ethernet. */
  public int slid(int index) {
    return Short.toUnsignedInt(IbvStructs.ALL.get(JAVA_SHORT_UNALIGNED, at(index) + SLID));
  }

  /** Service level of a datagram. */
  public int sl(int index) {
    return Byte.toUnsignedInt(IbvStructs.ALL.get(JAVA_BYTE, at(index) + SL));
  }

  /** Low bits of the local LID that a datagram was sent to. */
  public int dlidPathBits(int index) {
    return Byte.toUnsignedInt(IbvStructs.ALL.get(JAVA_BYTE, at(index) + DLID_PATH_BITS));
  }

  /** Throws an IllegalStateException if the array's arena is closed. */
  long address() {
    requireOpen();
    return address;
  }

  private void requireOpen() {
    if (!scope.isAlive()) {
      throw new IllegalStateException("the arena of the work completions is closed");
    }
  }

  /** Returns one {@code struct ibv_wc}. */
  MemorySegment struct(int index) {
    return memory.asSlice(index * SIZE, SIZE);
  }

  private int get(int index, long offset) {
    return IbvStructs.ALL.get(JAVA_INT_UNALIGNED, at(index) + offset);
  }

  private long at(int index) {
    requireOpen();
    return addresses[index];
  }
}
