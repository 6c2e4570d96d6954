// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.ffi.NativeFunction.HEAP;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;

/**
 * An XRC domain: {@code struct ibv_xrcd} (ibv_open_xrcd(3)). Its queue pairs of type XRC_RECV
 * deliver to its shared receive queues. Close these queues first; they belong to protection
 * domains. Its {@link IbvContext} closes it, after its children, the queue pairs. Any thread.
 */
public final class IbvXrcd extends NativeObject {
  // Members that are set, by the bits of comp_mask.
  private static final int MASK_FD_OFLAGS = 1 | 1 << 1;
  private static final int MASK_NUM_XRCD_TYPE = 1 | 1 << 1 | 1 << 3;

  private final IbvContext context;

  private IbvXrcd(IbvContext context, MemorySegment pointer) {
    super("XRC domain", context, pointer, null, 0);
    this.context = context;
  }

  static IbvXrcd open(IbvContext context, int fd, int oflags) throws VerbsException {
    MemorySegment attr = IbvStructs.XRCD_INIT_ATTR.allocate(HEAP);
    IbvStructs.XRCD_INIT_ATTR.set(attr, "comp_mask", MASK_FD_OFLAGS);
    IbvStructs.XRCD_INIT_ATTR.set(attr, "fd", fd);
    IbvStructs.XRCD_INIT_ATTR.set(attr, "oflags", oflags);
    return new IbvXrcd(
        context,
        context
            .operation("ptr ibv_open_xrcd(ptr context, ptr xrcd_init_attr)")
            .callForPointer(context.pointer(), attr));
  }

  /**
   * Creates a queue pair of type XRC_RECV in RESET (ibv_create_qp_ex(3)).
   *
   * @param attr without completion queues and without a shared receive queue
   */
  public IbvQp createQpEx(IbvQpInitAttrEx attr) throws VerbsException {
    return adopt(attr.create(this, context, IbvQpInitAttrEx.Mask.XRCD, "xrcd"));
  }

  /**
   * Opens a queue pair of type XRC_RECV that another process created (ibv_open_qp(3)).
   *
   * @throws VerbsException EINVAL for a number that the domain lacks, EOPNOTSUPP without XRC
   */
  public IbvQp openQp(int qpNumber) throws VerbsException {
    MemorySegment attr = IbvStructs.QP_OPEN_ATTR.allocate(HEAP);
    IbvStructs.QP_OPEN_ATTR.set(attr, "comp_mask", MASK_NUM_XRCD_TYPE);
    IbvStructs.QP_OPEN_ATTR.set(attr, "qp_num", qpNumber);
    IbvStructs.QP_OPEN_ATTR.set(attr, "xrcd", pointer());
    IbvStructs.QP_OPEN_ATTR.set(attr, "qp_type", IbvQp.Type.XRC_RECV.value());
    MemorySegment qp =
        context
            .operation("ptr ibv_open_qp(ptr context, ptr qp_open_attr)")
            .callForPointer(context.pointer(), attr);
    IbvQpCap none = new IbvQpCap(0, 0, 0, 0, 0);
    return adopt(new IbvQp(this, context, qp, none, 0, LibIbverbs.DESTROY_QP::invoke));
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    context.operation("int ibv_close_xrcd(ptr xrcd)").call(pointer);
  }
}
