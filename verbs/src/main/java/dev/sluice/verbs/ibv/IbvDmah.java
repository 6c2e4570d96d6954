// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.ffi.CConstant;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A DMA handle: {@code struct ibv_dmah} (ibv_alloc_dmah(3)). It has hints for the device's accesses
 * to host memory, such as the processor whose cache shall receive the data. Regions of {@link
 * IbvMrInitAttr#withDmah} use it; close them first. Its {@link IbvContext} closes it, after its
 * domains. Any thread.
 */
public final class IbvDmah extends NativeObject {
  /** Kinds of target memory for the processing hints of PCI Express (ibv_alloc_dmah(3)). */
  public enum TphMemType implements CConstant {
    /** Volatile memory. */
    VM,
    /** Persistent memory. */
    PM
  }

  /**
   * Attributes of a new handle: {@code struct ibv_dmah_init_attr}. Empty attributes are the
   * driver's choice.
   *
   * @param cpuId processor that the handle refers to
   * @param processingHint two bits of PCI Express
   */
  public record InitAttr(
      OptionalInt cpuId, OptionalInt processingHint, Optional<TphMemType> memoryType) {
    /** Attributes that the structure holds ({@code comp_mask}). Bits, to be combined by |. */
    public interface Mask {
      int CPU_ID = 1;
      int PH = 1 << 1;
      int TPH_MEM_TYPE = 1 << 2;
    }

    MemorySegment write(SegmentAllocator allocator) {
      MemorySegment struct = IbvStructs.DMAH_INIT_ATTR.allocate(allocator);
      IbvStructs.DMAH_INIT_ATTR.set(struct, "cpu_id", cpuId.orElse(0));
      IbvStructs.DMAH_INIT_ATTR.set(struct, "ph", processingHint.orElse(0));
      int type = memoryType.map(TphMemType::value).orElse(0);
      IbvStructs.DMAH_INIT_ATTR.set(struct, "tph_mem_type", type);
      int hints =
          (cpuId.isPresent() ? Mask.CPU_ID : 0) | (processingHint.isPresent() ? Mask.PH : 0);
      int mask = hints | (memoryType.isPresent() ? Mask.TPH_MEM_TYPE : 0);
      IbvStructs.DMAH_INIT_ATTR.set(struct, "comp_mask", mask);
      return struct;
    }
  }

  IbvDmah(IbvContext context, MemorySegment pointer) {
    super("DMA handle", context, pointer, LibIbverbs.DEALLOC_DMAH::invoke, 0);
  }
}
