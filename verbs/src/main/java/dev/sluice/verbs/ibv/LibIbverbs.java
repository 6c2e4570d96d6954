// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.ffi.Failure.ERROR_NUMBER;
import static dev.sluice.verbs.ffi.Failure.MINUS_ONE_WITH_ERRNO;
import static dev.sluice.verbs.ffi.Failure.NEGATIVE_WITH_ERRNO;
import static dev.sluice.verbs.ffi.Failure.NONE;

import dev.sluice.verbs.ffi.Failure;
import dev.sluice.verbs.ffi.NativeFunction;
import dev.sluice.verbs.ffi.NativeLibrary;

/**
 * The functions that libibverbs.so.1 exports, each with the failure convention of its manual page.
 * {@link IbvOps} and {@link VerbsContextOps} have the inline functions of verbs.h. The classes of
 * this package call them on any thread; the library is loaded at the first call. A function without
 * a convention returns an error number, or NULL if it returns a pointer.
 */
final class LibIbverbs {
  static final NativeLibrary LIBRARY =
      new NativeLibrary(
          "libibverbs.so.1",
          "rdma-core (Debian, Ubuntu: libibverbs1 ibverbs-providers; Fedora, RHEL: libibverbs)");

  static final NativeFunction FORK_INIT = function("int ibv_fork_init()");
  static final NativeFunction IS_FORK_INITIALIZED = function("int ibv_is_fork_initialized()", NONE);

  static final NativeFunction GET_DEVICE_LIST =
      function("ptr ibv_get_device_list(ptr num_devices)");
  static final NativeFunction FREE_DEVICE_LIST = function("void ibv_free_device_list(ptr list)");
  static final NativeFunction GET_DEVICE_GUID =
      function("long ibv_get_device_guid(ptr device)", NONE);
  static final NativeFunction GET_DEVICE_INDEX =
      function("int ibv_get_device_index(ptr device)", NONE);
  static final NativeFunction PORT_STATE_STR =
      function("ptr ibv_port_state_str(int port_state)", NONE);
  static final NativeFunction EVENT_TYPE_STR =
      function("ptr ibv_event_type_str(int event_type)", NONE);
  static final NativeFunction WC_STATUS_STR = function("ptr ibv_wc_status_str(int status)", NONE);

  static final NativeFunction OPEN_DEVICE = function("ptr ibv_open_device(ptr device)");
  static final NativeFunction CLOSE_DEVICE =
      function("int ibv_close_device(ptr context)", MINUS_ONE_WITH_ERRNO);
  static final NativeFunction QUERY_DEVICE =
      function("int ibv_query_device(ptr context, ptr device_attr)");

  /**
   * Fills the shorter structure of the first releases; used only if the device lacks the extended
   * query.
   */
  static final NativeFunction COMPAT_QUERY_PORT =
      function("int ibv_query_port(ptr context, byte port_num, ptr port_attr)");

  static final NativeFunction QUERY_GID =
      function(
          "int ibv_query_gid(ptr context, byte port_num, int index, ptr gid)",
          MINUS_ONE_WITH_ERRNO);
  static final NativeFunction QUERY_GID_EX =
      function(
          "int _ibv_query_gid_ex(ptr context, int port_num, int gid_index, ptr entry, int flags, long entry_size)");

  /** Returns the number of entries, or an error number below zero. */
  static final NativeFunction QUERY_GID_TABLE =
      function(
          "long _ibv_query_gid_table(ptr context, ptr entries, long max_entries, int flags, long entry_size)",
          NONE);

  /** The entry is in network byte order. */
  static final NativeFunction QUERY_PKEY =
      function(
          "int ibv_query_pkey(ptr context, byte port_num, int index, ptr entry)",
          MINUS_ONE_WITH_ERRNO);

  static final NativeFunction GET_ASYNC_EVENT =
      function("int ibv_get_async_event(ptr context, ptr event)", MINUS_ONE_WITH_ERRNO);
  static final NativeFunction ACK_ASYNC_EVENT = function("void ibv_ack_async_event(ptr event)");

  static final NativeFunction ALLOC_PD = function("ptr ibv_alloc_pd(ptr context)");
  static final NativeFunction DEALLOC_PD = function("int ibv_dealloc_pd(ptr pd)");

  /** The macro ibv_reg_mr calls this function for access flags that a device may ignore. */
  static final NativeFunction REG_MR_IOVA2 =
      function("ptr ibv_reg_mr_iova2(ptr pd, ptr addr, long length, long iova, int access)");

  static final NativeFunction REG_MR =
      function("ptr ibv_reg_mr(ptr pd, ptr addr, long length, int access)");

  static final NativeFunction REG_DMABUF_MR =
      function(
          "ptr ibv_reg_dmabuf_mr(ptr pd, long offset, long length, long iova, int fd, int access)");

  static final NativeFunction DEREG_MR = function("int ibv_dereg_mr(ptr mr)");

  static final NativeFunction CREATE_COMP_CHANNEL =
      function("ptr ibv_create_comp_channel(ptr context)");
  static final NativeFunction DESTROY_COMP_CHANNEL =
      function("int ibv_destroy_comp_channel(ptr channel)");
  static final NativeFunction CREATE_CQ =
      function(
          "ptr ibv_create_cq(ptr context, int cqe, ptr cq_context, ptr channel, int comp_vector)");
  static final NativeFunction RESIZE_CQ = function("int ibv_resize_cq(ptr cq, int cqe)");
  static final NativeFunction DESTROY_CQ = function("int ibv_destroy_cq(ptr cq)");
  static final NativeFunction GET_CQ_EVENT =
      function("int ibv_get_cq_event(ptr channel, ptr cq, ptr cq_context)", MINUS_ONE_WITH_ERRNO);
  static final NativeFunction ACK_CQ_EVENTS =
      function("void ibv_ack_cq_events(ptr cq, int nevents)");

  static final NativeFunction CREATE_SRQ =
      function("ptr ibv_create_srq(ptr pd, ptr srq_init_attr)");
  static final NativeFunction MODIFY_SRQ =
      function("int ibv_modify_srq(ptr srq, ptr srq_attr, int srq_attr_mask)");
  static final NativeFunction QUERY_SRQ = function("int ibv_query_srq(ptr srq, ptr srq_attr)");
  static final NativeFunction DESTROY_SRQ = function("int ibv_destroy_srq(ptr srq)");

  static final NativeFunction CREATE_QP = function("ptr ibv_create_qp(ptr pd, ptr qp_init_attr)");
  static final NativeFunction MODIFY_QP =
      function("int ibv_modify_qp(ptr qp, ptr attr, int attr_mask)");
  static final NativeFunction QUERY_QP =
      function("int ibv_query_qp(ptr qp, ptr attr, int attr_mask, ptr init_attr)");
  static final NativeFunction DESTROY_QP = function("int ibv_destroy_qp(ptr qp)");
  static final NativeFunction CREATE_AH = function("ptr ibv_create_ah(ptr pd, ptr attr)");
  static final NativeFunction DESTROY_AH = function("int ibv_destroy_ah(ptr ah)");

  static final NativeFunction NODE_TYPE_STR =
      function("ptr ibv_node_type_str(int node_type)", NONE);
  static final NativeFunction GET_PKEY_INDEX =
      function(
          "int ibv_get_pkey_index(ptr context, byte port_num, short partition)",
          MINUS_ONE_WITH_ERRNO);

  /** Returns an enum ibv_rereg_mr_err_code, -1 to -5, and sets errno. */
  static final NativeFunction REREG_MR =
      function(
          "int ibv_rereg_mr(ptr mr, int flags, ptr pd, ptr addr, long length, int access)",
          NEGATIVE_WITH_ERRNO);

  static final NativeFunction ATTACH_MCAST =
      function("int ibv_attach_mcast(ptr qp, ptr gid, short lid)");
  static final NativeFunction DETACH_MCAST =
      function("int ibv_detach_mcast(ptr qp, ptr gid, short lid)");
  static final NativeFunction INIT_AH_FROM_WC =
      function(
          "int ibv_init_ah_from_wc(ptr context, byte port_num, ptr wc, ptr grh, ptr ah_attr)",
          MINUS_ONE_WITH_ERRNO);
  static final NativeFunction CREATE_AH_FROM_WC =
      function("ptr ibv_create_ah_from_wc(ptr pd, ptr wc, ptr grh, byte port_num)");

  static final NativeFunction RATE_TO_MULT = function("int ibv_rate_to_mult(int rate)", NONE);
  static final NativeFunction RATE_TO_MBPS = function("int ibv_rate_to_mbps(int rate)", NONE);
  static final NativeFunction MULT_TO_RATE = function("int mult_to_ibv_rate(int mult)", NONE);
  static final NativeFunction MBPS_TO_RATE = function("int mbps_to_ibv_rate(int mbps)", NONE);

  /** Exists only in releases after rdma-core 44. */
  static final NativeFunction WR_OPCODE_STR = function("ptr ibv_wr_opcode_str(int opcode)", NONE);

  /** Exists since rdma-core 62. */
  static final NativeFunction QUERY_PORT_SPEED =
      function("int ibv_query_port_speed(ptr context, int port_num, ptr port_speed)");

  /** Exists since rdma-core 59. */
  static final NativeFunction REG_MR_EX = function("ptr ibv_reg_mr_ex(ptr pd, ptr mr_init_attr)");

  /** Exists since rdma-core 59. */
  static final NativeFunction ALLOC_DMAH = function("ptr ibv_alloc_dmah(ptr context, ptr attr)");

  static final NativeFunction DEALLOC_DMAH = function("int ibv_dealloc_dmah(ptr dmah)");

  /** Exists since rdma-core 64. */
  static final NativeFunction ALLOC_BUF = function("ptr ibv_alloc_buf(ptr pd, long size, ptr buf)");

  static final NativeFunction FREE_BUF = function("void ibv_free_buf(ptr buf)");
  static final NativeFunction REG_BUF_MR =
      function("ptr ibv_reg_buf_mr(ptr pd, ptr buf, ptr addr, long length, int access)");

  /** Exists since rdma-core 65. */
  static final NativeFunction EXPORT_BUF_DMABUF_FD =
      function("int ibv_export_buf_dmabuf_fd(ptr buf)", MINUS_ONE_WITH_ERRNO);

  static final NativeFunction QP_TO_QP_EX = function("ptr ibv_qp_to_qp_ex(ptr qp)", NONE);

  static final NativeFunction QUERY_QP_DATA_IN_ORDER =
      function("int ibv_query_qp_data_in_order(ptr qp, int op, int flags)", NONE);
  static final NativeFunction QUERY_ECE = function("int ibv_query_ece(ptr qp, ptr ece)");
  static final NativeFunction SET_ECE = function("int ibv_set_ece(ptr qp, ptr ece)");

  private LibIbverbs() {}

  private static NativeFunction function(String declaration) {
    return function(declaration, Failure.of(declaration, ERROR_NUMBER));
  }

  private static NativeFunction function(String declaration, Failure failure) {
    return NativeFunction.exported(LIBRARY, declaration, failure);
  }
}
