package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;

/** An address handle, the destination of an unreliable datagram: {@code struct ibv_ah}. */
public final class IbvAh extends NativeObject {
  IbvAh(IbvPd pd, MemorySegment pointer) {
    super("address handle", pd, pointer);
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    LibIbverbs.DESTROY_AH.call(pointer);
  }
}
