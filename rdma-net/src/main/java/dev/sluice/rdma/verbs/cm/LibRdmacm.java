package dev.sluice.rdma.verbs.cm;

import static dev.sluice.rdma.verbs.ffi.Failure.MINUS_ONE_WITH_ERRNO;
import static dev.sluice.rdma.verbs.ffi.Failure.NONE;
import static dev.sluice.rdma.verbs.ffi.Failure.NULL_WITH_ERRNO;
import static dev.sluice.rdma.verbs.ffi.NativeFunction.INT_OF_POINTER;
import static dev.sluice.rdma.verbs.ffi.NativeFunction.INT_OF_POINTERS;
import static dev.sluice.rdma.verbs.ffi.NativeFunction.POINTER_OF_INT;
import static dev.sluice.rdma.verbs.ffi.NativeFunction.VOID_OF_POINTER;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.rdma.verbs.ffi.Failure;
import dev.sluice.rdma.verbs.ffi.NativeFunction;
import dev.sluice.rdma.verbs.ffi.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;

/**
 * The functions that librdmacm.so.1 exports, each with the way in which its manual page says that
 * it fails.
 */
final class LibRdmacm {
  static final NativeLibrary LIBRARY =
      new NativeLibrary(
          "librdmacm.so.1", "rdma-core (Debian, Ubuntu: librdmacm1; Fedora, RHEL: librdmacm)");

  private static final FunctionDescriptor INT_OF_POINTER_INT =
      FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT);
  private static final FunctionDescriptor INT_OF_THREE_POINTERS =
      FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS);

  static final NativeFunction CREATE_EVENT_CHANNEL =
      function("rdma_create_event_channel()", NULL_WITH_ERRNO, FunctionDescriptor.of(ADDRESS));
  static final NativeFunction DESTROY_EVENT_CHANNEL =
      function("rdma_destroy_event_channel(channel)", NONE, VOID_OF_POINTER);
  static final NativeFunction GET_CM_EVENT =
      function("rdma_get_cm_event(channel, event)", MINUS_ONE_WITH_ERRNO, INT_OF_POINTERS);
  static final NativeFunction ACK_CM_EVENT =
      function("rdma_ack_cm_event(event)", MINUS_ONE_WITH_ERRNO, INT_OF_POINTER);
  static final NativeFunction EVENT_STR = function("rdma_event_str(event)", NONE, POINTER_OF_INT);

  static final NativeFunction CREATE_ID =
      function(
          "rdma_create_id(channel, id, context, ps)",
          MINUS_ONE_WITH_ERRNO,
          FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_INT));

  /** Waits until all events of the id that were taken are acknowledged. */
  static final NativeFunction DESTROY_ID =
      function("rdma_destroy_id(id)", MINUS_ONE_WITH_ERRNO, INT_OF_POINTER);

  static final NativeFunction SET_OPTION =
      function(
          "rdma_set_option(id, level, optname, optval, optlen)",
          MINUS_ONE_WITH_ERRNO,
          FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG));

  static final NativeFunction BIND_ADDR =
      function("rdma_bind_addr(id, addr)", MINUS_ONE_WITH_ERRNO, INT_OF_POINTERS);
  static final NativeFunction LISTEN =
      function("rdma_listen(id, backlog)", MINUS_ONE_WITH_ERRNO, INT_OF_POINTER_INT);
  static final NativeFunction RESOLVE_ADDR =
      function(
          "rdma_resolve_addr(id, src_addr, dst_addr, timeout_ms)",
          MINUS_ONE_WITH_ERRNO,
          FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_INT));
  static final NativeFunction RESOLVE_ROUTE =
      function("rdma_resolve_route(id, timeout_ms)", MINUS_ONE_WITH_ERRNO, INT_OF_POINTER_INT);

  static final NativeFunction CREATE_QP =
      function("rdma_create_qp(id, pd, qp_init_attr)", MINUS_ONE_WITH_ERRNO, INT_OF_THREE_POINTERS);
  static final NativeFunction DESTROY_QP = function("rdma_destroy_qp(id)", NONE, VOID_OF_POINTER);
  static final NativeFunction INIT_QP_ATTR =
      function(
          "rdma_init_qp_attr(id, qp_attr, qp_attr_mask)",
          MINUS_ONE_WITH_ERRNO,
          INT_OF_THREE_POINTERS);

  static final NativeFunction CONNECT =
      function("rdma_connect(id, conn_param)", MINUS_ONE_WITH_ERRNO, INT_OF_POINTERS);
  static final NativeFunction ACCEPT =
      function("rdma_accept(id, conn_param)", MINUS_ONE_WITH_ERRNO, INT_OF_POINTERS);
  static final NativeFunction REJECT =
      function(
          "rdma_reject(id, private_data, private_data_len)",
          MINUS_ONE_WITH_ERRNO,
          FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_BYTE));
  static final NativeFunction ESTABLISH =
      function("rdma_establish(id)", MINUS_ONE_WITH_ERRNO, INT_OF_POINTER);
  static final NativeFunction DISCONNECT =
      function("rdma_disconnect(id)", MINUS_ONE_WITH_ERRNO, INT_OF_POINTER);

  private LibRdmacm() {}

  private static NativeFunction function(
      String prototype, Failure failure, FunctionDescriptor descriptor) {
    return NativeFunction.exported(LIBRARY, prototype, failure, descriptor);
  }
}
