package dev.sluice.rdma.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The verbs of the data path: in C they are inline functions that call through {@code
 * context->ops}; here the pointers are read once per context and given to method handles that the
 * JIT compiler knows as constants. Nothing is allocated. Any thread.
 *
 * <p>Structures are passed as raw addresses: for a segment of a shared arena each call would count
 * its use up and down. Whoever calls keeps the memory alive.
 *
 * <p>None of the handles is {@code Linker.Option.critical}: a device's poll may take a lock, and
 * its post a system call, and a critical call holds up the garbage collector for as long as it
 * takes.
 */
final class IbvOps {
  private static final MethodHandle POLL_CQ =
      handle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));
  private static final MethodHandle REQ_NOTIFY_CQ =
      handle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
  private static final MethodHandle POST =
      handle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  private final MemorySegment pollCq;
  private final MemorySegment reqNotifyCq;
  private final MemorySegment postSend;
  private final MemorySegment postRecv;
  private final MemorySegment postSrqRecv;

  /**
   * @param context a {@code struct ibv_context}
   */
  IbvOps(MemorySegment context) {
    MemorySegment ops = IbvStructs.CONTEXT.part(context, "ops");
    pollCq = IbvStructs.CONTEXT_OPS.getPointer(ops, "poll_cq");
    reqNotifyCq = IbvStructs.CONTEXT_OPS.getPointer(ops, "req_notify_cq");
    postSend = IbvStructs.CONTEXT_OPS.getPointer(ops, "post_send");
    postRecv = IbvStructs.CONTEXT_OPS.getPointer(ops, "post_recv");
    postSrqRecv = IbvStructs.CONTEXT_OPS.getPointer(ops, "post_srq_recv");
  }

  /**
   * @return the number of completions; below 0 on failure
   */
  int pollCq(long cq, int entries, long wc) {
    try {
      return (int) POLL_CQ.invokeExact(pollCq, cq, entries, wc);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /**
   * @return 0 or an error number
   */
  int requestNotify(long cq, boolean solicitedOnly) {
    try {
      return (int) REQ_NOTIFY_CQ.invokeExact(reqNotifyCq, cq, solicitedOnly ? 1 : 0);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /**
   * @param badWr where the address of the first request that was refused goes
   * @return 0 or an error number
   */
  int postSend(long qp, long wr, long badWr) {
    return post(postSend, qp, wr, badWr);
  }

  /** As {@link #postSend}, for the receive queue. */
  int postRecv(long qp, long wr, long badWr) {
    return post(postRecv, qp, wr, badWr);
  }

  /** As {@link #postRecv}, for a shared receive queue. */
  int postSrqRecv(long srq, long wr, long badWr) {
    return post(postSrqRecv, srq, wr, badWr);
  }

  private static int post(MemorySegment function, long queue, long wr, long badWr) {
    try {
      return (int) POST.invokeExact(function, queue, wr, badWr);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @SuppressWarnings("restricted")
  private static MethodHandle handle(FunctionDescriptor descriptor) {
    return Linker.nativeLinker().downcallHandle(descriptor);
  }

  private static Error unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return new AssertionError("a C function throws nothing", e);
  }
}
