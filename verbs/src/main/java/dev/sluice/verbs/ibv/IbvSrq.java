// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.ffi.NativeFunction.HEAP;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CConstant;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;

/**
 * A receive queue that several queue pairs share: {@code struct ibv_srq} (ibv_create_srq(3)). Its
 * {@link IbvPd} closes it, after the queue pairs that use it. Any thread may post.
 */
public final class IbvSrq extends NativeObject {
  /** Kinds of shared receive queues (ibv_create_srq_ex(3)). */
  public enum Type implements CConstant {
    BASIC,
    XRC,
    TM
  }

  /** Attributes that ibv_modify_srq(3) sets. Bits, to be combined by {@code |}. */
  public interface AttrMask {
    int MAX_WR = 1;
    int LIMIT = 1 << 1;
  }

  private final IbvOps ops;
  private final IbvContext context;

  /**
   * Attributes of a shared receive queue: {@code struct ibv_srq_attr}.
   *
   * @param maxWr number of receives that the queue holds
   * @param maxSge scatter/gather entries of a receive
   * @param limit receives below which the queue raises SRQ_LIMIT_REACHED, once; 0 for never
   */
  public record Attr(int maxWr, int maxSge, int limit) {}

  IbvSrq(IbvPd pd, MemorySegment pointer) {
    this(pd, pointer, LibIbverbs.DESTROY_SRQ::invoke);
  }

  IbvSrq(IbvPd pd, MemorySegment pointer, Destroyer destroyer) {
    super("shared receive queue", pd, pointer, destroyer, 3);
    context = pd.context();
    ops = context.ops();
  }

  public Attr query() throws VerbsException {
    MemorySegment attr = IbvStructs.SRQ_ATTR.allocate(HEAP);
    LibIbverbs.QUERY_SRQ.call(pointer(), attr);
    return new Attr(
        IbvStructs.SRQ_ATTR.getInt(attr, "max_wr"),
        IbvStructs.SRQ_ATTR.getInt(attr, "max_sge"),
        IbvStructs.SRQ_ATTR.getInt(attr, "srq_limit"));
  }

  /**
   * The number by which peers address a queue of type XRC (ibv_get_srq_num(3)).
   *
   * @throws VerbsException EOPNOTSUPP if the device's driver has none
   */
  public int srqNum() throws VerbsException {
    MemorySegment queue = pointer();
    MemorySegment number = HEAP.allocate(JAVA_INT);
    context.operation("int ibv_get_srq_num(ptr srq, ptr srq_num)").call(queue, number);
    return number.get(JAVA_INT, 0);
  }

  /** Changes the number of receives that the queue holds (ibv_modify_srq(3)). */
  public void resize(int maxWr) throws VerbsException {
    modify("max_wr", maxWr, AttrMask.MAX_WR);
  }

  /** Requests one SRQ_LIMIT_REACHED event below this number of receives (ibv_modify_srq(3)). */
  public void limit(int receives) throws VerbsException {
    modify("srq_limit", receives, AttrMask.LIMIT);
  }

  private void modify(String member, int value, int mask) throws VerbsException {
    MemorySegment attr = IbvStructs.SRQ_ATTR.allocate(HEAP);
    IbvStructs.SRQ_ATTR.set(attr, member, value);
    LibIbverbs.MODIFY_SRQ.call(pointer(), attr, mask);
  }

  /**
   * Posts receives (ibv_post_srq_recv(3)). Allocates nothing.
   *
   * @throws PostException ENOMEM if the queue is full; receives before the bad one are posted
   */
  public void postRecv(IbvRecvWrList requests) throws PostException {
    long address = requests.addressOf(this, "ibv_post_srq_recv");
    if (!requests.isEmpty()) {
      requests.post(ops.postSrqRecv, address, "ibv_post_srq_recv");
    }
  }
}
