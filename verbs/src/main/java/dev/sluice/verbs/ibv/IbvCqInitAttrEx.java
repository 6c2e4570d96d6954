// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import org.jspecify.annotations.Nullable;

/**
 * Attributes of a new completion queue with extended completions: {@code struct
 * ibv_cq_init_attr_ex} (ibv_create_cq_ex(3)).
 *
 * @param entries minimum number of completions that the queue holds
 * @param channel channel on which the queue announces completions; null for none
 * @param vector completion vector, below {@link IbvContext#completionVectors}
 * @param wcFlags members that can be read, of {@link IbvCqEx.WcFlags}
 * @param flags of {@link Flags}; 0 omits the attribute
 */
public record IbvCqInitAttrEx(
    int entries, @Nullable IbvCompChannel channel, int vector, long wcFlags, int flags) {
  private static final int MASK_FLAGS = 1;

  /** Usage of a completion queue. Bits, to be combined by {@code |}. */
  public interface Flags {
    int SINGLE_THREADED = 1;
    int IGNORE_OVERRUN = 1 << 1;
  }

  /** Returns attributes of a completion queue without events. */
  public static IbvCqInitAttrEx of(int entries, long wcFlags) {
    return new IbvCqInitAttrEx(entries, null, 0, wcFlags, 0);
  }

  MemorySegment write(SegmentAllocator allocator) throws VerbsException {
    MemorySegment struct = IbvStructs.CQ_INIT_ATTR_EX.allocate(allocator);
    IbvStructs.CQ_INIT_ATTR_EX.set(struct, "cqe", entries);
    IbvStructs.CQ_INIT_ATTR_EX.set(struct, "channel", channel);
    IbvStructs.CQ_INIT_ATTR_EX.set(struct, "comp_vector", vector);
    IbvStructs.CQ_INIT_ATTR_EX.set(struct, "wc_flags", wcFlags);
    IbvStructs.CQ_INIT_ATTR_EX.set(struct, "comp_mask", flags == 0 ? 0 : MASK_FLAGS);
    IbvStructs.CQ_INIT_ATTR_EX.set(struct, "flags", flags);
    return struct;
  }
}
