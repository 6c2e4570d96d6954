package dev.sluice.rdma.verbs.ibv;

import static dev.sluice.rdma.verbs.ffi.Failure.ERROR_NUMBER;
import static dev.sluice.rdma.verbs.ffi.Failure.MINUS_ONE_WITH_ERRNO;
import static dev.sluice.rdma.verbs.ffi.Failure.NONE;
import static dev.sluice.rdma.verbs.ffi.Failure.NULL_WITH_ERRNO;
import static dev.sluice.rdma.verbs.ffi.NativeFunction.INT_OF_POINTER;
import static dev.sluice.rdma.verbs.ffi.NativeFunction.INT_OF_POINTERS;
import static dev.sluice.rdma.verbs.ffi.NativeFunction.POINTER_OF_INT;
import static dev.sluice.rdma.verbs.ffi.NativeFunction.POINTER_OF_POINTER;
import static dev.sluice.rdma.verbs.ffi.NativeFunction.POINTER_OF_POINTERS;
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
 * The functions that libibverbs.so.1 exports, each with the way in which its manual page says that
 * it fails. What verbs.h has as inline functions is in {@link IbvOps} and {@link VerbsContextOps}.
 */
final class LibIbverbs {
  static final NativeLibrary LIBRARY =
      new NativeLibrary(
          "libibverbs.so.1",
          "rdma-core (Debian, Ubuntu: libibverbs1 ibverbs-providers; Fedora, RHEL: libibverbs)");

  static final NativeFunction FORK_INIT =
      function("ibv_fork_init()", ERROR_NUMBER, FunctionDescriptor.of(JAVA_INT));
  static final NativeFunction IS_FORK_INITIALIZED =
      function("ibv_is_fork_initialized()", NONE, FunctionDescriptor.of(JAVA_INT));

  static final NativeFunction GET_DEVICE_LIST =
      function("ibv_get_device_list(num_devices)", NULL_WITH_ERRNO, POINTER_OF_POINTER);
  static final NativeFunction FREE_DEVICE_LIST =
      function("ibv_free_device_list(list)", NONE, VOID_OF_POINTER);
  static final NativeFunction GET_DEVICE_GUID =
      function("ibv_get_device_guid(device)", NONE, FunctionDescriptor.of(JAVA_LONG, ADDRESS));
  static final NativeFunction GET_DEVICE_INDEX =
      function("ibv_get_device_index(device)", NONE, INT_OF_POINTER);
  static final NativeFunction PORT_STATE_STR =
      function("ibv_port_state_str(port_state)", NONE, POINTER_OF_INT);
  static final NativeFunction EVENT_TYPE_STR =
      function("ibv_event_type_str(event_type)", NONE, POINTER_OF_INT);
  static final NativeFunction WC_STATUS_STR =
      function("ibv_wc_status_str(status)", NONE, POINTER_OF_INT);

  static final NativeFunction OPEN_DEVICE =
      function("ibv_open_device(device)", NULL_WITH_ERRNO, POINTER_OF_POINTER);
  static final NativeFunction CLOSE_DEVICE =
      function("ibv_close_device(context)", MINUS_ONE_WITH_ERRNO, INT_OF_POINTER);
  static final NativeFunction QUERY_DEVICE =
      function("ibv_query_device(context, device_attr)", ERROR_NUMBER, INT_OF_POINTERS);

  /**
   * Fills the shorter structure of the first releases: only for devices without the extended one.
   */
  static final NativeFunction COMPAT_QUERY_PORT =
      function(
          "ibv_query_port(context, port_num, port_attr)",
          ERROR_NUMBER,
          FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_BYTE, ADDRESS));

  static final NativeFunction QUERY_GID =
      function(
          "ibv_query_gid(context, port_num, index, gid)",
          MINUS_ONE_WITH_ERRNO,
          FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_BYTE, JAVA_INT, ADDRESS));
  static final NativeFunction QUERY_GID_EX =
      function(
          "_ibv_query_gid_ex(context, port_num, gid_index, entry, flags, entry_size)",
          ERROR_NUMBER,
          FunctionDescriptor.of(
              JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG));

  /** Returns the number of entries, or an error number below zero. */
  static final NativeFunction QUERY_GID_TABLE =
      function(
          "_ibv_query_gid_table(context, entries, max_entries, flags, entry_size)",
          NONE,
          FunctionDescriptor.of(JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_LONG));

  /** The entry that it fills is in network byte order. */
  static final NativeFunction QUERY_PKEY =
      function(
          "ibv_query_pkey(context, port_num, index, entry)",
          MINUS_ONE_WITH_ERRNO,
          FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_BYTE, JAVA_INT, ADDRESS));

  static final NativeFunction GET_ASYNC_EVENT =
      function("ibv_get_async_event(context, event)", MINUS_ONE_WITH_ERRNO, INT_OF_POINTERS);
  static final NativeFunction ACK_ASYNC_EVENT =
      function("ibv_ack_async_event(event)", NONE, VOID_OF_POINTER);

  static final NativeFunction ALLOC_PD =
      function("ibv_alloc_pd(context)", NULL_WITH_ERRNO, POINTER_OF_POINTER);
  static final NativeFunction DEALLOC_PD =
      function("ibv_dealloc_pd(pd)", ERROR_NUMBER, INT_OF_POINTER);

  /** What the macro ibv_reg_mr calls for access flags that a device may ignore. */
  static final NativeFunction REG_MR_IOVA2 =
      function(
          "ibv_reg_mr_iova2(pd, addr, length, iova, access)",
          NULL_WITH_ERRNO,
          FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_INT));

  static final NativeFunction REG_MR =
      function(
          "ibv_reg_mr(pd, addr, length, access)",
          NULL_WITH_ERRNO,
          FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT));

  static final NativeFunction DEREG_MR = function("ibv_dereg_mr(mr)", ERROR_NUMBER, INT_OF_POINTER);

  static final NativeFunction CREATE_COMP_CHANNEL =
      function("ibv_create_comp_channel(context)", NULL_WITH_ERRNO, POINTER_OF_POINTER);
  static final NativeFunction DESTROY_COMP_CHANNEL =
      function("ibv_destroy_comp_channel(channel)", ERROR_NUMBER, INT_OF_POINTER);
  static final NativeFunction CREATE_CQ =
      function(
          "ibv_create_cq(context, cqe, cq_context, channel, comp_vector)",
          NULL_WITH_ERRNO,
          FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
  static final NativeFunction RESIZE_CQ =
      function(
          "ibv_resize_cq(cq, cqe)",
          ERROR_NUMBER,
          FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
  static final NativeFunction DESTROY_CQ =
      function("ibv_destroy_cq(cq)", ERROR_NUMBER, INT_OF_POINTER);
  static final NativeFunction GET_CQ_EVENT =
      function(
          "ibv_get_cq_event(channel, cq, cq_context)",
          MINUS_ONE_WITH_ERRNO,
          FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
  static final NativeFunction ACK_CQ_EVENTS =
      function(
          "ibv_ack_cq_events(cq, nevents)", NONE, FunctionDescriptor.ofVoid(ADDRESS, JAVA_INT));

  static final NativeFunction CREATE_SRQ =
      function("ibv_create_srq(pd, srq_init_attr)", NULL_WITH_ERRNO, POINTER_OF_POINTERS);
  static final NativeFunction MODIFY_SRQ =
      function(
          "ibv_modify_srq(srq, srq_attr, srq_attr_mask)",
          ERROR_NUMBER,
          FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
  static final NativeFunction QUERY_SRQ =
      function("ibv_query_srq(srq, srq_attr)", ERROR_NUMBER, INT_OF_POINTERS);
  static final NativeFunction DESTROY_SRQ =
      function("ibv_destroy_srq(srq)", ERROR_NUMBER, INT_OF_POINTER);

  static final NativeFunction CREATE_QP =
      function("ibv_create_qp(pd, qp_init_attr)", NULL_WITH_ERRNO, POINTER_OF_POINTERS);
  static final NativeFunction MODIFY_QP =
      function(
          "ibv_modify_qp(qp, attr, attr_mask)",
          ERROR_NUMBER,
          FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
  static final NativeFunction QUERY_QP =
      function(
          "ibv_query_qp(qp, attr, attr_mask, init_attr)",
          ERROR_NUMBER,
          FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, ADDRESS));
  static final NativeFunction DESTROY_QP =
      function("ibv_destroy_qp(qp)", ERROR_NUMBER, INT_OF_POINTER);
  static final NativeFunction CREATE_AH =
      function("ibv_create_ah(pd, attr)", NULL_WITH_ERRNO, POINTER_OF_POINTERS);
  static final NativeFunction DESTROY_AH =
      function("ibv_destroy_ah(ah)", ERROR_NUMBER, INT_OF_POINTER);

  private LibIbverbs() {}

  private static NativeFunction function(
      String prototype, Failure failure, FunctionDescriptor descriptor) {
    return NativeFunction.exported(LIBRARY, prototype, failure, descriptor);
  }
}
