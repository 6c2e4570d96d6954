// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;

/**
 * An address handle, the destination of an unreliable datagram: {@code struct ibv_ah}
 * (ibv_create_ah(3)). Any thread. Its {@link IbvPd} closes it. It must be open when a request to it
 * is posted.
 */
public final class IbvAh extends NativeObject {
  IbvAh(IbvPd pd, MemorySegment pointer) {
    super("address handle", pd, pointer);
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    LibIbverbs.DESTROY_AH.call(pointer);
  }
}
