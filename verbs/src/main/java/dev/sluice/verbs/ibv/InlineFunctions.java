// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Locale;
import java.util.function.ToLongFunction;

/**
 * The function pointers of a {@code struct ibv_qp_ex} or {@code struct ibv_cq_ex}, which C's inline
 * functions call. {@link IbvQpEx} and {@link IbvCqEx} call it on one thread per batch. No method
 * allocates.
 *
 * <p>One method handle serves all functions. x86-64 and aarch64 pass the first six integers in
 * registers of 64 bits. A function reads only the registers of its parameters, and only the low
 * bits for shorter types. The same holds for the result.
 */
final class InlineFunctions {
  private static final MethodHandle CALL =
      IbvOps.handle(
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  private final NativeObject owner;
  private final long object;
  private final MemorySegment[] functions;

  /**
   * @param owner object whose close ends all calls
   * @param struct the structure, long enough to cover all functions
   * @param first offset of the first function; the others follow in the order of the enum
   * @param flag creation flag without which the structure may lack a function; -1 for none
   * @param flags flags that the owner was created with: the library fills in their functions
   */
  <F extends Enum<F>> InlineFunctions(
      NativeObject owner,
      MemorySegment struct,
      long first,
      F[] all,
      ToLongFunction<F> flag,
      long flags) {
    this.owner = owner;
    object = struct.address();
    functions = new MemorySegment[all.length];
    for (F each : all) {
      boolean has = flag.applyAsLong(each) == -1 || (flags & flag.applyAsLong(each)) != 0;
      long offset = first + (long) each.ordinal() * Long.BYTES;
      functions[each.ordinal()] = MemorySegment.ofAddress(has ? struct.get(JAVA_LONG, offset) : 0);
    }
  }

  /**
   * Calls a function with the object and up to five arguments.
   *
   * @throws VerbsException EOPNOTSUPP if the object lacks the function, EINVAL if the owner is
   *     closed
   */
  long call(Enum<?> function, long a, long b, long c, long d, long e) throws VerbsException {
    owner.pointer();
    MemorySegment pointer = functions[function.ordinal()];
    if (pointer.address() == 0) {
      throw new VerbsException(
          "ibv_" + function.name().toLowerCase(Locale.ROOT) + "(" + owner + ")",
          VerbsException.EOPNOTSUPP,
          "the object was created without this function, or its driver lacks it");
    }
    try {
      return (long) CALL.invokeExact(pointer, object, a, b, c, d, e);
    } catch (Throwable thrown) {
      throw IbvOps.unexpected(thrown);
    }
  }
}
