// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.ffi.NativeFunction.HEAP;
import static java.lang.foreign.ValueLayout.ADDRESS;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CFunction;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;

/**
 * A protection domain: {@code struct ibv_pd} (ibv_alloc_pd(3)). It is the parent of regions,
 * windows, queue pairs, shared receive queues and address handles, and closes them first. Its
 * {@link IbvContext} closes it, before completion queues. Any thread.
 */
public final class IbvPd extends NativeObject {
  /** {@code IBV_ACCESS_OPTIONAL_RANGE}: access flags that a device may ignore. */
  private static final int OPTIONAL_ACCESS = 0x3ff00000;

  private final IbvContext context;

  IbvPd(IbvContext context, MemorySegment pointer) {
    this(context, pointer, LibIbverbs.DEALLOC_PD::invoke);
  }

  IbvPd(IbvContext context, MemorySegment pointer, @Nullable Destroyer destroyer) {
    super("protection domain", context, pointer, destroyer, -1);
    this.context = context;
  }

  public IbvContext context() {
    return context;
  }

  /**
   * Registers memory (ibv_reg_mr(3)). The caller keeps the memory alive until the region is closed.
   *
   * @param access of {@link IbvMr.Access}
   * @throws VerbsException EINVAL for flags that exclude one another, EFAULT for memory that cannot
   *     be pinned with these flags, ENOMEM beyond RLIMIT_MEMLOCK or the device's limits
   */
  public IbvMr regMr(MemorySegment memory, int access) throws VerbsException {
    if ((access & OPTIONAL_ACCESS) != 0) {
      try {
        return regMr(memory, memory.address(), access);
      } catch (VerbsException e) {
        if (e.errno() != VerbsException.ENOSYS) {
          throw e;
        }
      }
    }
    int required = access & ~OPTIONAL_ACCESS; // rdma-core before 28 knows no optional flags
    return register(LibIbverbs.REG_MR, pointer(), pinnable(memory), memory.byteSize(), required);
  }

  private IbvMr register(CFunction function, Object... arguments) throws VerbsException {
    return adopt(new IbvMr(this, function.callForPointer(arguments)));
  }

  /** Refuses memory of the Java heap, which moves: the call would register a temporary copy. */
  static MemorySegment pinnable(MemorySegment memory) {
    if (!memory.isNative()) {
      throw new IllegalArgumentException("memory of the Java heap cannot be registered");
    }
    return memory;
  }

  /**
   * Registers memory that peers address from a different start address (ibv_reg_mr_iova(3)).
   *
   * @param iova the peers' address of the memory's first byte
   */
  public IbvMr regMr(MemorySegment memory, long iova, int access) throws VerbsException {
    return register(
        LibIbverbs.REG_MR_IOVA2, pointer(), pinnable(memory), memory.byteSize(), iova, access);
  }

  /**
   * Registers a part of a DMA-BUF, such as memory of a GPU (ibv_reg_dmabuf_mr(3)).
   *
   * @param fd descriptor of the DMA-BUF
   * @param iova the peers' address of the first byte, with the same offset within a page as {@code
   *     offset}
   * @throws VerbsException ENOSYS with rdma-core before 34, EOPNOTSUPP if the device lacks it
   */
  public IbvMr regDmabufMr(int fd, long offset, long length, long iova, int access)
      throws VerbsException {
    return register(LibIbverbs.REG_DMABUF_MR, pointer(), offset, length, iova, fd, access);
  }

  /**
   * Registers memory, a part of a buffer or a DMA-BUF, with any combination of options
   * (ibv_reg_mr_ex(3)).
   *
   * @throws VerbsException ENOSYS with rdma-core before 59, EOPNOTSUPP for an option that the
   *     device lacks; otherwise as {@link #regMr}
   */
  public IbvMr regMrEx(IbvMrInitAttr attr) throws VerbsException {
    IbvMr mr = register(LibIbverbs.REG_MR_EX, pointer(), attr.write(HEAP));
    Reference.reachabilityFence(attr);
    return mr;
  }

  /**
   * Allocates memory in the way that the device's driver prefers (ibv_alloc_buf(3)). Close the
   * regions of the buffer before it.
   *
   * @param size in bytes
   * @throws VerbsException ENOSYS with rdma-core before 64, ENOMEM
   */
  public IbvBuf allocBuf(long size) throws VerbsException {
    MemorySegment handle = HEAP.allocate(ADDRESS);
    MemorySegment memory = LibIbverbs.ALLOC_BUF.callForPointer(pointer(), size, handle);
    return adopt(new IbvBuf(this, handle.get(ADDRESS, 0), memory, size));
  }

  /**
   * Registers a part of a buffer of this domain (ibv_reg_buf_mr(3)).
   *
   * @param part of {@link IbvBuf#memory}
   * @throws VerbsException EINVAL for a buffer of another domain or for memory outside the buffer;
   *     otherwise as {@link #regMr}
   */
  public IbvMr regBufMr(IbvBuf buf, MemorySegment part, int access) throws VerbsException {
    return register(LibIbverbs.REG_BUF_MR, pointer(), buf.pointer(), part, part.byteSize(), access);
  }

  /** Registers the whole address space on demand (ibv_reg_mr(3), implicit on-demand paging). */
  public IbvMr regImplicitMr(int access) throws VerbsException {
    int onDemand = access | IbvMr.Access.ON_DEMAND;
    return register(LibIbverbs.REG_MR, pointer(), MemorySegment.NULL, -1L, onDemand);
  }

  /**
   * Announces the use of parts of regions that are registered on demand (ibv_advise_mr(3)).
   *
   * @param flags of {@link IbvMr.AdviseFlags}
   * @throws VerbsException EOPNOTSUPP if the device takes no such advice, EFAULT for unmapped
   *     memory
   */
  public void adviseMr(IbvMr.Advice advice, int flags, IbvSge... pieces) throws VerbsException {
    MemorySegment domain = pointer();
    try (Arena arena = Arena.ofConfined()) {
      IbvSgeList list = new IbvSgeList(arena, pieces.length);
      for (IbvSge piece : pieces) {
        list.add(piece.address(), piece.length(), piece.lkey());
      }
      context
          .operation("int ibv_advise_mr(ptr pd, int advice, int flags, ptr sg_list, int num_sge)")
          .call(
              domain, advice.value(), flags, MemorySegment.ofAddress(list.address()), list.size());
    }
  }

  /**
   * Allocates a memory window (ibv_alloc_mw(3)).
   *
   * @throws VerbsException EOPNOTSUPP if the device has none
   */
  public IbvMw allocMw(IbvMw.Type type) throws VerbsException {
    MemorySegment domain = pointer();
    CFunction alloc = context.operation("ptr ibv_alloc_mw(ptr pd, int type)");
    return adopt(new IbvMw(this, alloc.callForPointer(domain, type.value()), type));
  }

  /**
   * Creates a queue pair in RESET (ibv_create_qp(3)).
   *
   * @throws VerbsException EINVAL for capabilities beyond the device's, ENOMEM at a limit
   */
  public IbvQp createQp(IbvQpInitAttr attr) throws VerbsException {
    MemorySegment struct = IbvStructs.QP_INIT_ATTR.allocate(HEAP);
    attr.write(struct);
    MemorySegment qp = LibIbverbs.CREATE_QP.callForPointer(pointer(), struct);
    return adoptQp(qp, IbvQpCap.ofInitAttr(struct), 0, LibIbverbs.DESTROY_QP::invoke);
  }

  /**
   * Creates a queue pair in RESET from extended attributes (ibv_create_qp_ex(3)).
   *
   * @throws VerbsException EOPNOTSUPP if the device's driver lacks the function or an attribute;
   *     otherwise as {@link #createQp}
   */
  public IbvQp createQpEx(IbvQpInitAttrEx attr) throws VerbsException {
    return attr.sendOps() == 0 && attr.createFlags() == 0
        ? createQp(attr.attr()) // as the inline function in verbs.h does
        : adopt(attr.create(this, context, IbvQpInitAttrEx.Mask.PD, "pd"));
  }

  /**
   * Becomes the parent of a queue pair that was created in this domain.
   *
   * @param sendOps operations that it was created with, of {@link IbvQpEx.SendOps}
   * @param destroyer destroys it; librdmacm has a function of its own
   */
  public IbvQp adoptQp(MemorySegment qp, IbvQpCap cap, long sendOps, Destroyer destroyer)
      throws VerbsException {
    return adopt(new IbvQp(this, context, qp, cap, sendOps, destroyer));
  }

  /**
   * Creates a shared receive queue (ibv_create_srq(3)).
   *
   * @param maxWr minimum number of receives that the queue holds
   * @param maxSge scatter/gather entries of a receive
   */
  public IbvSrq createSrq(int maxWr, int maxSge) throws VerbsException {
    MemorySegment init = IbvStructs.SRQ_INIT_ATTR.allocate(HEAP);
    IbvStructs.SRQ_INIT_ATTR.set(init, "attr.max_wr", maxWr);
    IbvStructs.SRQ_INIT_ATTR.set(init, "attr.max_sge", maxSge);
    return adopt(new IbvSrq(this, LibIbverbs.CREATE_SRQ.callForPointer(pointer(), init)));
  }

  /** Becomes the parent of a shared receive queue, as {@link #adoptQp}. */
  public IbvSrq adoptSrq(MemorySegment srq, Destroyer destroyer) throws VerbsException {
    return adopt(new IbvSrq(this, srq, destroyer));
  }

  /**
   * Creates a shared receive queue of any type (ibv_create_srq_ex(3)).
   *
   * @throws VerbsException EOPNOTSUPP if the device or its driver lacks the type
   */
  public IbvSrq createSrqEx(IbvSrqInitAttrEx attr) throws VerbsException {
    if (attr.type() == IbvSrq.Type.BASIC) {
      return createSrq(attr.maxWr(), attr.maxSge());
    }
    MemorySegment struct = attr.write(HEAP, this);
    MemorySegment srq =
        context
            .operation("ptr ibv_create_srq_ex(ptr context, ptr srq_init_attr_ex)")
            .callForPointer(context.pointer(), struct);
    return adopt(new IbvSrq(this, srq));
  }

  /** Creates an address handle (ibv_create_ah(3)). */
  public IbvAh createAh(IbvAhAttr attr) throws VerbsException {
    MemorySegment struct = IbvStructs.AH_ATTR.allocate(HEAP);
    attr.write(struct);
    return adopt(new IbvAh(this, LibIbverbs.CREATE_AH.callForPointer(pointer(), struct)));
  }

  /**
   * Creates an address handle for a message's sender (ibv_create_ah_from_wc(3)), from the arguments
   * of {@link IbvContext#initAhFromWc}.
   */
  public IbvAh createAhFromWc(IbvWcArray completions, int index, @Nullable IbvGrh grh, int port)
      throws VerbsException {
    MemorySegment domain = pointer();
    MemorySegment header = IbvGrh.write(grh, completions.flags(index), HEAP);
    return adopt(
        new IbvAh(
            this,
            LibIbverbs.CREATE_AH_FROM_WC.callForPointer(
                domain, completions.struct(index), header, (byte) port)));
  }
}
