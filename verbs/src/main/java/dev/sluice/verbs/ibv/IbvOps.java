// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The verbs of the data path. In C they are inline functions that call through {@code
 * context->ops}. Here each context reads the pointers once and passes them to method handles that
 * are constants to the JIT compiler. No method allocates. Any thread.
 *
 * <p>Structures are passed as raw addresses: with segments of a shared arena, each call would count
 * the arena's users up and down. The caller keeps the memory alive. Functions are addresses, too,
 * of which each call makes a segment: the JIT compiler then knows its class and needs no object. A
 * segment from a field costs 1.5 ns a call on JDK 21.
 *
 * <p>No handle is {@code Linker.Option.critical}. A device's poll may take a lock and its post may
 * be a system call, and a critical call holds up the garbage collector for its whole duration. It
 * would save about 3 ns a call: a tenth of the CPU time that posting and polling one READ takes.
 */
final class IbvOps {
  private static final MethodHandle POLL_CQ =
      handle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));
  private static final MethodHandle REQ_NOTIFY_CQ =
      handle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
  private static final MethodHandle POST =
      handle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  /** Functions for {@link #post}. */
  final long postSend;

  final long postRecv;
  final long postSrqRecv;

  private final long pollCq;
  private final long reqNotifyCq;

  /** Reads the pointers of a {@code struct ibv_context}. */
  IbvOps(MemorySegment context) {
    pollCq = IbvStructs.CONTEXT.getPointer(context, "ops.poll_cq").address();
    reqNotifyCq = IbvStructs.CONTEXT.getPointer(context, "ops.req_notify_cq").address();
    postSend = IbvStructs.CONTEXT.getPointer(context, "ops.post_send").address();
    postRecv = IbvStructs.CONTEXT.getPointer(context, "ops.post_recv").address();
    postSrqRecv = IbvStructs.CONTEXT.getPointer(context, "ops.post_srq_recv").address();
  }

  /** Returns the number of completions; below 0 on failure. */
  int pollCq(long cq, int entries, long wc) {
    try {
      return (int) POLL_CQ.invokeExact(MemorySegment.ofAddress(pollCq), cq, entries, wc);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Returns 0 or an error number. */
  int requestNotify(long cq, boolean solicitedOnly) {
    try {
      return (int)
          REQ_NOTIFY_CQ.invokeExact(
              MemorySegment.ofAddress(reqNotifyCq), cq, solicitedOnly ? 1 : 0);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /**
   * Posts work requests to a queue pair, or to a shared receive queue.
   *
   * @param badWr address to which C writes the address of the first refused request
   * @return 0 or an error number
   */
  static int post(long function, long queue, long wr, long badWr) {
    try {
      return (int) POST.invokeExact(MemorySegment.ofAddress(function), queue, wr, badWr);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @SuppressWarnings("restricted")
  static MethodHandle handle(FunctionDescriptor descriptor) {
    return Linker.nativeLinker().downcallHandle(descriptor);
  }

  static Error unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return new AssertionError("a C function throws nothing", e);
  }
}
