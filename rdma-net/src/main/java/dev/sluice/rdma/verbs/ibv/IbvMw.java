package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;

/**
 * A memory window: {@code struct ibv_mw} (ibv_alloc_mw(3)). Type 1 is bound by {@link
 * IbvQp#bindMw}, type 2 by a BIND_MW work request.
 */
public final class IbvMw extends NativeObject {
  private final IbvPd pd;
  private final MemorySegment struct;
  private final IbvMwType type;

  IbvMw(IbvPd pd, MemorySegment pointer, IbvMwType type) {
    super("memory window", pd, pointer);
    this.pd = pd;
    this.type = type;
    struct = IbvStructs.MW.at(pointer);
  }

  public IbvMwType type() {
    return type;
  }

  /** The present key; a type 1 window gets a new one when it is bound. */
  public int rkey() {
    return IbvStructs.MW.getInt(struct, "rkey");
  }

  MemorySegment pdPointer() {
    return IbvStructs.MW.getPointer(struct, "pd");
  }

  /** The next key of the same window, which a type 2 bind needs (ibv_inc_rkey(3)). */
  public static int nextRkey(int rkey) {
    return rkey & 0xffffff00 | rkey + 1 & 0xff;
  }

  /** A type 2 window holds the queue pair that it is bound on. */
  @Override
  protected int rank() {
    return -1;
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    pd.context().extendedOps().deallocMw().call(pointer);
  }
}
