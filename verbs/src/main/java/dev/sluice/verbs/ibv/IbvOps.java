// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.Failure;
import dev.sluice.verbs.ffi.NativeFunction;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The verbs that C calls through function pointers of a context. Each context reads the pointers of
 * the data path once and passes them to method handles that are constants to the JIT compiler;
 * these methods allocate nothing once they are compiled. {@link #operation} returns the other
 * verbs. The pointers for memory windows and for the data path are in {@code context->ops}, the
 * others in {@code struct verbs_context}. The latter lies before the {@code struct ibv_context}
 * that a device returned, and its member {@code sz} tells how long it is (verbs_get_ctx_op in
 * verbs.h). Any thread.
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
  /** {@code __VERBS_ABI_IS_EXTENDED}: the value of abi_compat if there is a verbs_context. */
  private static final long ABI_IS_EXTENDED = -1;

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

  private final MemorySegment context;

  /** Operations that were asked for: linking one takes longer than calling it. */
  private final Map<Operation, NativeFunction> functions = new ConcurrentHashMap<>();

  private record Operation(long address, String declaration) {}

  /** Reads the pointers of a {@code struct ibv_context}. */
  IbvOps(MemorySegment context) {
    this.context = context;
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

  /**
   * Returns an operation. Its member has the function's name without {@code ibv_}.
   *
   * @param declaration as for {@link NativeFunction#exported}; an int result is an error number
   * @throws VerbsException EOPNOTSUPP if the device's driver lacks it
   */
  NativeFunction operation(String declaration) throws VerbsException {
    String name = declaration.substring(declaration.indexOf(' ') + 1, declaration.indexOf('('));
    String member = name.substring("ibv_".length());
    MemorySegment pointer =
        IbvStructs.CONTEXT.has("ops." + member)
            ? IbvStructs.CONTEXT.getPointer(context, "ops." + member)
            : extendedPointer(member);
    if (pointer.address() == 0) {
      throw new VerbsException(
          name, VerbsException.EOPNOTSUPP, "the device's driver lacks this function");
    }
    return functions.computeIfAbsent(
        new Operation(pointer.address(), declaration),
        _ ->
            NativeFunction.at(pointer, declaration, Failure.of(declaration, Failure.ERROR_NUMBER)));
  }

  @SuppressWarnings("restricted")
  private MemorySegment extendedPointer(String member) {
    if (IbvStructs.CONTEXT.getPointer(context, "abi_compat").address() != ABI_IS_EXTENDED) {
      return MemorySegment.NULL;
    }
    long fromEnd = IbvStructs.VERBS_CONTEXT.offset("context");
    MemorySegment whole =
        MemorySegment.ofAddress(context.address() - fromEnd)
            .reinterpret(IbvStructs.VERBS_CONTEXT.size());
    long needed = IbvStructs.VERBS_CONTEXT.size() - IbvStructs.VERBS_CONTEXT.offset(member);
    return IbvStructs.VERBS_CONTEXT.getLong(whole, "sz") >= needed
        ? IbvStructs.VERBS_CONTEXT.getPointer(whole, member)
        : MemorySegment.NULL;
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
