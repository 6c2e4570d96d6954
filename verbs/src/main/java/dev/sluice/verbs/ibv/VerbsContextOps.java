// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CStruct;
import dev.sluice.verbs.ffi.Failure;
import dev.sluice.verbs.ffi.NativeFunction;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The verbs outside of the data path that C calls through function pointers. The pointers for
 * memory windows are in {@code context->ops}, the others in {@code struct verbs_context}. The
 * latter lies before the {@code struct ibv_context} that a device returned, and its member {@code
 * sz} tells how long it is (verbs_get_ctx_op in verbs.h). Any thread.
 */
final class VerbsContextOps {
  /** {@code __VERBS_ABI_IS_EXTENDED}: the value of abi_compat if there is a verbs_context. */
  private static final long ABI_IS_EXTENDED = -1;

  private static final CStruct EXTENDED = IbvStructs.VERBS_CONTEXT;

  private final MemorySegment context;

  /** Operations that were asked for: linking one takes longer than calling it. */
  private final Map<Operation, NativeFunction> functions = new ConcurrentHashMap<>();

  private record Operation(long address, String declaration) {}

  /** Takes a {@code struct ibv_context}. */
  VerbsContextOps(MemorySegment context) {
    this.context = context;
  }

  /**
   * Returns an operation. Its member has the function's name without {@code ibv_}.
   *
   * @param declaration as for {@link NativeFunction#exported}; an int result is an error number
   * @throws VerbsException EOPNOTSUPP if the device's driver lacks it
   */
  NativeFunction get(String declaration) throws VerbsException {
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
    long fromEnd = EXTENDED.offset("context");
    MemorySegment whole =
        MemorySegment.ofAddress(context.address() - fromEnd).reinterpret(EXTENDED.size());
    long needed = EXTENDED.size() - EXTENDED.offset(member);
    return EXTENDED.getLong(whole, "sz") >= needed
        ? EXTENDED.getPointer(whole, member)
        : MemorySegment.NULL;
  }
}
