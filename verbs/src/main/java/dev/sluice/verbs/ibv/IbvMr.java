// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CConstant;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A memory region: {@code struct ibv_mr} (ibv_reg_mr(3)). The caller owns the memory and keeps it
 * alive until the region is closed. The caller closes it. If it is still open when its {@link
 * IbvPd} closes, that closes it, after windows and queue pairs. Any thread may use it, but not
 * while another thread closes it.
 */
public final class IbvMr extends NativeObject {
  /**
   * Rights of the device, and of a peer through a queue pair, on registered memory (ibv_reg_mr(3)).
   * Bits, to be combined by {@code |}.
   */
  public interface Access {
    int LOCAL_WRITE = 1;
    int REMOTE_WRITE = 1 << 1;
    int REMOTE_READ = 1 << 2;
    int REMOTE_ATOMIC = 1 << 3;
    int MW_BIND = 1 << 4;
    int ZERO_BASED = 1 << 5;
    int ON_DEMAND = 1 << 6;
    int HUGETLB = 1 << 7;
    int FLUSH_GLOBAL = 1 << 8;
    int FLUSH_PERSISTENT = 1 << 9;
    int RELAXED_ORDERING = 1 << 20;
  }

  /** Attributes that {@link #rereg} changes (ibv_rereg_mr(3)). Bits, to be combined by |. */
  public interface Rereg {
    int CHANGE_TRANSLATION = 1;
    int CHANGE_PD = 1 << 1;
    int CHANGE_ACCESS = 1 << 2;
  }

  /** Announced use of registered memory (ibv_advise_mr(3)). */
  public enum Advice implements CConstant {
    PREFETCH,
    PREFETCH_WRITE,
    PREFETCH_NO_FAULT
  }

  /** Ways to follow advice (ibv_advise_mr(3)). Bits, to be combined by {@code |}. */
  public interface AdviseFlags {
    /** The device follows the advice before the call returns. */
    int FLUSH = 1;
  }

  IbvMr(IbvPd pd, MemorySegment pointer) {
    super("memory region", pd, IbvStructs.MR.at(pointer), LibIbverbs.DEREG_MR::invoke, 2);
  }

  public long address() {
    return IbvStructs.MR.getPointer(struct(), "addr").address();
  }

  /** Length in bytes. */
  public long length() {
    return IbvStructs.MR.getLong(struct(), "length");
  }

  public int lkey() {
    return IbvStructs.MR.getInt(struct(), "lkey");
  }

  public int rkey() {
    return IbvStructs.MR.getInt(struct(), "rkey");
  }

  /**
   * Changes the region (ibv_rereg_mr(3)). After a failure the region may be unusable: close it.
   *
   * @param flags attributes to change, of {@link Rereg}
   * @param pd null unless CHANGE_PD. This region stays the child of its first domain: close the
   *     region before that domain
   * @param memory null unless CHANGE_TRANSLATION
   * @param access of {@link Access}; used with CHANGE_ACCESS
   */
  public void rereg(int flags, @Nullable IbvPd pd, @Nullable MemorySegment memory, int access)
      throws VerbsException {
    if ((flags & Rereg.CHANGE_PD) != 0 && pd == null) {
      throw failure(
          "ibv_rereg_mr", VerbsException.EINVAL, "no protection domain was given to change to");
    }
    LibIbverbs.REREG_MR.call(
        pointer(),
        flags,
        pd == null ? MemorySegment.NULL : pd.pointer(),
        memory == null ? MemorySegment.NULL : IbvPd.pinnable(memory),
        memory == null ? 0L : memory.byteSize(),
        access);
  }
}
