// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;

/**
 * An address handle, the destination of an unreliable datagram: {@code struct ibv_ah}
 * (ibv_create_ah(3)). Any thread. Its {@link IbvPd} closes it. It must be open when requests are
 * posted.
 */
public final class IbvAh extends NativeObject {
  IbvAh(IbvPd pd, MemorySegment pointer) {
    super("address handle", pd, pointer, LibIbverbs.DESTROY_AH::invoke, 0);
  }
}
