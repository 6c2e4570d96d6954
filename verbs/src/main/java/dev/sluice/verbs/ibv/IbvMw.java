// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.ffi.NativeFunction.HEAP;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CConstant;
import dev.sluice.verbs.ffi.NativeFunction;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;

/**
 * A memory window: {@code struct ibv_mw} (ibv_alloc_mw(3)). {@link IbvQp#bindMw} binds type 1, a
 * BIND_MW request type 2. Its {@link IbvPd} closes it, before regions and before queue pairs: a
 * type 2 window holds the queue pair that it is bound on. Any thread.
 */
public final class IbvMw extends NativeObject {
  /** Types of memory windows (ibv_alloc_mw(3)). */
  public enum Type implements CConstant {
    TYPE_1,
    TYPE_2;

    /** C counts from 1 here. */
    @Override
    public int value() {
      return ordinal() + 1;
    }
  }

  private final IbvPd pd;
  private final Type type;

  IbvMw(IbvPd pd, MemorySegment pointer, Type type) {
    super("memory window", pd, IbvStructs.MW.at(pointer), null, -1);
    this.pd = pd;
    this.type = type;
  }

  public Type type() {
    return type;
  }

  /** The current key. Binding gives a type 1 window a new key. */
  public int rkey() {
    return IbvStructs.MW.getInt(struct(), "rkey");
  }

  /** Returns the next key of the same window, which a type 2 bind needs (ibv_inc_rkey(3)). */
  public static int nextRkey(int rkey) {
    return rkey & 0xffffff00 | rkey + 1 & 0xff;
  }

  /** Binds as {@link IbvQp#bindMw}. Drivers read the region even for an unbind. */
  void bind(IbvQp qp, long wrId, int sendFlags, IbvMr mr, long addr, long length, int access)
      throws VerbsException {
    MemorySegment queuePair = qp.pointer();
    if (type != Type.TYPE_1) {
      throw notBound(VerbsException.EINVAL, "a type 2 window is bound by a BIND_MW work request");
    }
    if (mr == null) {
      throw notBound(VerbsException.EINVAL, "no region was given, which an unbind needs too");
    }
    MemorySegment window = pointer();
    MemorySegment region = mr.pointer();
    MemorySegment domain = IbvStructs.MW.getPointer(window, "pd");
    if (!IbvStructs.MR.getPointer(region, "pd").equals(domain)) {
      throw notBound(VerbsException.EPERM, "the region belongs to another protection domain");
    }
    NativeFunction bindMw = pd.context().operation("int ibv_bind_mw(ptr qp, ptr mw, ptr mw_bind)");
    MemorySegment bind = IbvStructs.MW_BIND.allocate(HEAP);
    IbvStructs.MW_BIND.set(bind, "wr_id", wrId);
    IbvStructs.MW_BIND.set(bind, "send_flags", sendFlags);
    IbvStructs.MW_BIND.set(bind, "bind_info.mr", region);
    IbvStructs.MW_BIND.set(bind, "bind_info.addr", addr);
    IbvStructs.MW_BIND.set(bind, "bind_info.length", length);
    IbvStructs.MW_BIND.set(bind, "bind_info.mw_access_flags", access);
    bindMw.call(queuePair, window, bind);
  }

  private VerbsException notBound(int errno, String reason) {
    return failure("ibv_bind_mw", errno, reason);
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    pd.context().operation("int ibv_dealloc_mw(ptr mw)").call(pointer);
  }
}
