package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;

/**
 * A memory region: {@code struct ibv_mr} (ibv_reg_mr(3)). The memory belongs to the caller, who
 * keeps it alive until the region is closed.
 */
public final class IbvMr extends NativeObject {
  private final MemorySegment struct;

  IbvMr(IbvPd pd, MemorySegment pointer) {
    super("memory region", pd, pointer);
    struct = IbvStructs.MR.at(pointer);
  }

  public long address() {
    return IbvStructs.MR.getPointer(struct, "addr").address();
  }

  /** Bytes. */
  public long length() {
    return IbvStructs.MR.getLong(struct, "length");
  }

  public int lkey() {
    return IbvStructs.MR.getInt(struct, "lkey");
  }

  public int rkey() {
    return IbvStructs.MR.getInt(struct, "rkey");
  }

  /** Whether a window may be bound to it. */
  boolean sharesPdWith(IbvMw mw) {
    return IbvStructs.MR.getPointer(struct, "pd").equals(mw.pdPointer());
  }

  /** Memory windows are bound to regions, and queue pairs may be using them. */
  @Override
  protected int rank() {
    return 2;
  }

  /**
   * Changes the region (ibv_rereg_mr(3)). After a failure it may be unusable, and is to be closed.
   *
   * @param flags of {@link IbvReregFlags}: which of the following to change
   * @param pd null unless CHANGE_PD; this region stays the child of its first one, which is to be
   *     closed first
   * @param memory null unless CHANGE_TRANSLATION
   * @param access of {@link IbvAccess}, if CHANGE_ACCESS
   */
  public void rereg(int flags, IbvPd pd, MemorySegment memory, int access) throws VerbsException {
    LibIbverbs.REREG_MR.call(
        pointer(),
        flags,
        pd == null ? MemorySegment.NULL : pd.pointer(),
        memory == null ? MemorySegment.NULL : memory,
        memory == null ? 0L : memory.byteSize(),
        access);
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    LibIbverbs.DEREG_MR.call(pointer);
  }
}
