package dev.sluice.rdma.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.CConstant;
import dev.sluice.rdma.verbs.ffi.CString;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Work completions: an array of {@code struct ibv_wc}, filled by {@link IbvCq#poll} and used again.
 * One thread at a time; the caller's arena owns the memory, and is not closed while the array is
 * used, which would then read what is there instead.
 */
public final class IbvWcArray {
  private static final long SIZE = IbvStructs.WC.size();
  private static final long STATUS = IbvStructs.WC.offset("status");
  private static final long OPCODE = IbvStructs.WC.offset("opcode");
  private static final long VENDOR_ERR = IbvStructs.WC.offset("vendor_err");
  private static final long BYTE_LEN = IbvStructs.WC.offset("byte_len");
  private static final long IMM_DATA = IbvStructs.WC.offset("imm_data");
  private static final long QP_NUM = IbvStructs.WC.offset("qp_num");
  private static final long SRC_QP = IbvStructs.WC.offset("src_qp");
  private static final long WC_FLAGS = IbvStructs.WC.offset("wc_flags");
  private static final IbvWcStatus[] STATUSES = IbvWcStatus.values();

  /**
   * All memory, as a constant: the JIT compiler inlines accesses to it down to one instruction,
   * whatever kinds of segments the rest of the program uses. Indices are checked here instead.
   */
  @SuppressWarnings("restricted")
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private final MemorySegment memory;
  private final long address;
  private final int capacity;

  /**
   * @param arena owns the memory, and is to be closed by its owner after the last use of the array
   */
  public IbvWcArray(Arena arena, int capacity) {
    this.capacity = capacity;
    memory = arena.allocate(capacity * SIZE, Long.BYTES);
    address = memory.address();
  }

  public int capacity() {
    return capacity;
  }

  public long wrId(int index) {
    return ALL.get(JAVA_LONG, at(index));
  }

  /** How the request ended; GENERAL_ERR for a status that verbs.h does not know either. */
  public IbvWcStatus status(int index) {
    int status = get(index, STATUS);
    return status >= 0 && status < STATUSES.length ? STATUSES[status] : IbvWcStatus.GENERAL_ERR;
  }

  /** The status in words (ibv_wc_status_str(3)). */
  public String statusText(int index) throws VerbsException {
    return CString.read(LibIbverbs.WC_STATUS_STR.callForPointer(get(index, STATUS)));
  }

  /** What was completed; meaningful only for a success. */
  public IbvWcOpcode opcode(int index) {
    return CConstant.of(IbvWcOpcode.class, get(index, OPCODE));
  }

  /** The device's own error code. */
  public int vendorError(int index) {
    return get(index, VENDOR_ERR);
  }

  /** Bytes that were received or READ; undefined for SEND and WRITE. */
  public int byteLength(int index) {
    return get(index, BYTE_LEN);
  }

  /** Immediate data as the sender gave them, if WITH_IMM is among the flags. */
  public int immediate(int index) {
    return Integer.reverseBytes(get(index, IMM_DATA));
  }

  /** The key that a SEND_WITH_INV invalidated, if WITH_INV is among the flags. */
  public int invalidatedRkey(int index) {
    return get(index, IMM_DATA);
  }

  /** Our queue pair. */
  public int qpNum(int index) {
    return get(index, QP_NUM);
  }

  /** The sender's queue pair, of a datagram. */
  public int srcQp(int index) {
    return get(index, SRC_QP);
  }

  /** Of {@link IbvWcFlags}. */
  public int flags(int index) {
    return get(index, WC_FLAGS);
  }

  long address() {
    return address;
  }

  /** One {@code struct ibv_wc}. */
  MemorySegment struct(int index) {
    return memory.asSlice(index * SIZE, SIZE);
  }

  private int get(int index, long offset) {
    return ALL.get(JAVA_INT, at(index) + offset);
  }

  private long at(int index) {
    return address + Objects.checkIndex(index, capacity) * SIZE;
  }
}
