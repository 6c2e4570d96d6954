package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.NativeObject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A protection domain: {@code struct ibv_pd} (ibv_alloc_pd(3)). */
public final class IbvPd extends NativeObject {
  /** {@code IBV_ACCESS_OPTIONAL_RANGE}: flags that a device may ignore. */
  private static final int OPTIONAL_ACCESS = 0x3ff00000;

  private final IbvContext context;

  IbvPd(IbvContext context, MemorySegment pointer) {
    super("protection domain", context, pointer);
    this.context = context;
  }

  public IbvContext context() {
    return context;
  }

  /** Its queue pairs use completion queues. */
  @Override
  protected int rank() {
    return -1;
  }

  /**
   * Registers memory (ibv_reg_mr(3)). The caller keeps the memory alive until the region is closed.
   *
   * @param access of {@link IbvAccess}
   * @throws VerbsException EINVAL for flags that exclude one another, EFAULT for memory that cannot
   *     be pinned with them, ENOMEM beyond RLIMIT_MEMLOCK or the device's limits
   */
  public IbvMr regMr(MemorySegment memory, int access) throws VerbsException {
    return adopt(new IbvMr(this, register(memory, access)));
  }

  private MemorySegment register(MemorySegment memory, int access) throws VerbsException {
    if ((access & OPTIONAL_ACCESS) != 0) {
      try {
        return LibIbverbs.REG_MR_IOVA2.callForPointer(
            pointer(), memory, memory.byteSize(), memory.address(), access);
      } catch (VerbsException e) {
        if (e.errno() != VerbsException.ENOSYS) {
          throw e;
        }
      }
    }
    int required = access & ~OPTIONAL_ACCESS; // all that rdma-core before 28 knows
    return LibIbverbs.REG_MR.callForPointer(pointer(), memory, memory.byteSize(), required);
  }

  /**
   * Registers memory that peers address from another number (ibv_reg_mr_iova(3)).
   *
   * @param iova the address of the memory's first byte for peers
   */
  public IbvMr regMr(MemorySegment memory, long iova, int access) throws VerbsException {
    return adopt(
        new IbvMr(
            this,
            LibIbverbs.REG_MR_IOVA2.callForPointer(
                pointer(), memory, memory.byteSize(), iova, access)));
  }

  /**
   * Creates a queue pair in RESET (ibv_create_qp(3)).
   *
   * @throws VerbsException EINVAL for capabilities beyond the device's, ENOMEM at a limit
   */
  public IbvQp createQp(IbvQpInitAttr attr) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment struct = attr.write(arena);
      MemorySegment qp = LibIbverbs.CREATE_QP.callForPointer(pointer(), struct);
      return adoptQp(qp, IbvQpCap.ofInitAttr(struct), LibIbverbs.DESTROY_QP::call);
    }
  }

  /**
   * Becomes the parent of a queue pair that was created in this domain.
   *
   * @param destroyer what destroys it: librdmacm has a function of its own
   */
  public IbvQp adoptQp(MemorySegment qp, IbvQpCap cap, IbvQp.Destroyer destroyer)
      throws VerbsException {
    return adopt(new IbvQp(this, qp, cap, destroyer));
  }

  /**
   * Creates a shared receive queue (ibv_create_srq(3)).
   *
   * @param maxWr receives that it holds at least
   * @param maxSge scatter/gather entries of a receive
   */
  public IbvSrq createSrq(int maxWr, int maxSge) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = IbvStructs.SRQ_INIT_ATTR.allocate(arena);
      MemorySegment attr = IbvStructs.SRQ_INIT_ATTR.part(init, "attr");
      IbvStructs.SRQ_ATTR.set(attr, "max_wr", maxWr);
      IbvStructs.SRQ_ATTR.set(attr, "max_sge", maxSge);
      return adopt(new IbvSrq(this, LibIbverbs.CREATE_SRQ.callForPointer(pointer(), init)));
    }
  }

  /** Creates an address handle (ibv_create_ah(3)). */
  public IbvAh createAh(IbvAhAttr attr) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment struct = IbvStructs.AH_ATTR.allocate(arena);
      attr.write(struct);
      return adopt(new IbvAh(this, LibIbverbs.CREATE_AH.callForPointer(pointer(), struct)));
    }
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    LibIbverbs.DEALLOC_PD.call(pointer);
  }
}
