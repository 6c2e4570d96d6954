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

  /** Queue pairs may be using it. */
  @Override
  protected int rank() {
    return 2;
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    LibIbverbs.DEREG_MR.call(pointer);
  }
}
