package dev.sluice.rdma.verbs.ibv;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.CStruct;
import dev.sluice.rdma.verbs.ffi.Failure;
import dev.sluice.rdma.verbs.ffi.NativeFunction;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;

/**
 * The verbs outside of the data path that C calls through function pointers: those of {@code struct
 * verbs_context}, which lies before the {@code struct ibv_context} that a device returned and says
 * how much of it there is (verbs_get_ctx_op in verbs.h). Any thread.
 *
 * @param context a {@code struct ibv_context}
 */
record VerbsContextOps(MemorySegment context) {
  /** {@code __VERBS_ABI_IS_EXTENDED}: the value of abi_compat where there is a verbs_context. */
  private static final long ABI_IS_EXTENDED = -1;

  private static final CStruct EXTENDED = IbvStructs.VERBS_CONTEXT;

  /**
   * @throws VerbsException EOPNOTSUPP where the device has no extended form
   */
  NativeFunction queryPort() throws VerbsException {
    return extended(
        "query_port",
        "ibv_query_port(context, port_num, port_attr, port_attr_len)",
        FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_BYTE, ADDRESS, JAVA_LONG));
  }

  /**
   * @throws VerbsException EOPNOTSUPP where the device has no extended form
   */
  NativeFunction queryDeviceEx() throws VerbsException {
    return extended(
        "query_device_ex",
        "ibv_query_device_ex(context, input, attr, attr_size)",
        FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG));
  }

  private NativeFunction extended(String member, String prototype, FunctionDescriptor descriptor)
      throws VerbsException {
    MemorySegment pointer = extendedPointer(member);
    if (pointer.address() == 0) {
      throw new VerbsException(
          prototype, VerbsException.EOPNOTSUPP, "the device's driver does not have it");
    }
    return NativeFunction.at(pointer, prototype, Failure.ERROR_NUMBER, descriptor);
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
