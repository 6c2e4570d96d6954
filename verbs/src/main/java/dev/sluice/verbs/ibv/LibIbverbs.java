// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.ffi.Failure.ERROR_NUMBER;
import static dev.sluice.verbs.ffi.Failure.MINUS_ONE_WITH_ERRNO;
import static dev.sluice.verbs.ffi.Failure.NEGATIVE_WITH_ERRNO;
import static dev.sluice.verbs.ffi.Failure.NONE;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CFunction;
import dev.sluice.verbs.ffi.Failure;
import dev.sluice.verbs.ffi.NativeFunction;
import dev.sluice.verbs.ffi.NativeLibrary;

/**
 * The functions that libibverbs.so.1 exports, each with the failure convention of its manual page.
 * {@link IbvOps} has the inline functions of verbs.h. The classes of this package call them on any
 * thread; the library is loaded at the first call. A function without a convention returns an error
 * number, or NULL if it returns a pointer.
 */
enum LibIbverbs implements CFunction {
  FORK_INIT("int ibv_fork_init()"),
  IS_FORK_INITIALIZED("int ibv_is_fork_initialized()", NONE),
  GET_DEVICE_LIST("ptr ibv_get_device_list(ptr num_devices)"),
  FREE_DEVICE_LIST("void ibv_free_device_list(ptr list)"),
  GET_DEVICE_GUID("long ibv_get_device_guid(ptr device)", NONE),
  GET_DEVICE_INDEX("int ibv_get_device_index(ptr device)", NONE),
  PORT_STATE_STR("ptr ibv_port_state_str(int port_state)", NONE),
  EVENT_TYPE_STR("ptr ibv_event_type_str(int event_type)", NONE),
  WC_STATUS_STR("ptr ibv_wc_status_str(int status)", NONE),
  OPEN_DEVICE("ptr ibv_open_device(ptr device)"),
  CLOSE_DEVICE("int ibv_close_device(ptr context)", MINUS_ONE_WITH_ERRNO),
  QUERY_DEVICE("int ibv_query_device(ptr context, ptr device_attr)"),
  /**
   * Fills the shorter structure of the first releases; used only if the device lacks the extended
   * query.
   */
  COMPAT_QUERY_PORT("int ibv_query_port(ptr context, byte port_num, ptr port_attr)"),
  QUERY_GID(
      "int ibv_query_gid(ptr context, byte port_num, int index, ptr gid)", MINUS_ONE_WITH_ERRNO),
  QUERY_GID_EX(
      "int _ibv_query_gid_ex(ptr context, int port_num, int gid_index, ptr entry, int flags, long entry_size)"),
  /** Returns the number of entries, or an error number below zero. */
  QUERY_GID_TABLE(
      "long _ibv_query_gid_table(ptr context, ptr entries, long max_entries, int flags, long entry_size)",
      NONE),
  /** The entry is in network byte order. */
  QUERY_PKEY(
      "int ibv_query_pkey(ptr context, byte port_num, int index, ptr entry)", MINUS_ONE_WITH_ERRNO),
  GET_ASYNC_EVENT("int ibv_get_async_event(ptr context, ptr event)", MINUS_ONE_WITH_ERRNO),
  ACK_ASYNC_EVENT("void ibv_ack_async_event(ptr event)"),
  ALLOC_PD("ptr ibv_alloc_pd(ptr context)"),
  DEALLOC_PD("int ibv_dealloc_pd(ptr pd)"),
  /** The macro ibv_reg_mr calls this function for access flags that a device may ignore. */
  REG_MR_IOVA2("ptr ibv_reg_mr_iova2(ptr pd, ptr addr, long length, long iova, int access)"),
  REG_MR("ptr ibv_reg_mr(ptr pd, ptr addr, long length, int access)"),
  REG_DMABUF_MR(
      "ptr ibv_reg_dmabuf_mr(ptr pd, long offset, long length, long iova, int fd, int access)"),
  DEREG_MR("int ibv_dereg_mr(ptr mr)"),
  CREATE_COMP_CHANNEL("ptr ibv_create_comp_channel(ptr context)"),
  DESTROY_COMP_CHANNEL("int ibv_destroy_comp_channel(ptr channel)"),
  CREATE_CQ(
      "ptr ibv_create_cq(ptr context, int cqe, ptr cq_context, ptr channel, int comp_vector)"),
  RESIZE_CQ("int ibv_resize_cq(ptr cq, int cqe)"),
  DESTROY_CQ("int ibv_destroy_cq(ptr cq)"),
  GET_CQ_EVENT("int ibv_get_cq_event(ptr channel, ptr cq, ptr cq_context)", MINUS_ONE_WITH_ERRNO),
  ACK_CQ_EVENTS("void ibv_ack_cq_events(ptr cq, int nevents)"),
  CREATE_SRQ("ptr ibv_create_srq(ptr pd, ptr srq_init_attr)"),
  MODIFY_SRQ("int ibv_modify_srq(ptr srq, ptr srq_attr, int srq_attr_mask)"),
  QUERY_SRQ("int ibv_query_srq(ptr srq, ptr srq_attr)"),
  DESTROY_SRQ("int ibv_destroy_srq(ptr srq)"),
  CREATE_QP("ptr ibv_create_qp(ptr pd, ptr qp_init_attr)"),
  MODIFY_QP("int ibv_modify_qp(ptr qp, ptr attr, int attr_mask)"),
  QUERY_QP("int ibv_query_qp(ptr qp, ptr attr, int attr_mask, ptr init_attr)"),
  DESTROY_QP("int ibv_destroy_qp(ptr qp)"),
  CREATE_AH("ptr ibv_create_ah(ptr pd, ptr attr)"),
  DESTROY_AH("int ibv_destroy_ah(ptr ah)"),
  NODE_TYPE_STR("ptr ibv_node_type_str(int node_type)", NONE),
  GET_PKEY_INDEX(
      "int ibv_get_pkey_index(ptr context, byte port_num, short partition)", MINUS_ONE_WITH_ERRNO),
  /** Returns an enum ibv_rereg_mr_err_code, -1 to -5, and sets errno. */
  REREG_MR(
      "int ibv_rereg_mr(ptr mr, int flags, ptr pd, ptr addr, long length, int access)",
      NEGATIVE_WITH_ERRNO),
  ATTACH_MCAST("int ibv_attach_mcast(ptr qp, ptr gid, short lid)"),
  DETACH_MCAST("int ibv_detach_mcast(ptr qp, ptr gid, short lid)"),
  INIT_AH_FROM_WC(
      "int ibv_init_ah_from_wc(ptr context, byte port_num, ptr wc, ptr grh, ptr ah_attr)",
      MINUS_ONE_WITH_ERRNO),
  CREATE_AH_FROM_WC("ptr ibv_create_ah_from_wc(ptr pd, ptr wc, ptr grh, byte port_num)"),
  RATE_TO_MULT("int ibv_rate_to_mult(int rate)", NONE),
  RATE_TO_MBPS("int ibv_rate_to_mbps(int rate)", NONE),
  MULT_TO_RATE("int mult_to_ibv_rate(int mult)", NONE),
  MBPS_TO_RATE("int mbps_to_ibv_rate(int mbps)", NONE),
  /** Exists only in releases after rdma-core 44. */
  WR_OPCODE_STR("ptr ibv_wr_opcode_str(int opcode)", NONE),
  /** Exists since rdma-core 62. */
  QUERY_PORT_SPEED("int ibv_query_port_speed(ptr context, int port_num, ptr port_speed)"),
  /** Exists since rdma-core 59. */
  REG_MR_EX("ptr ibv_reg_mr_ex(ptr pd, ptr mr_init_attr)"),
  /** Exists since rdma-core 59. */
  ALLOC_DMAH("ptr ibv_alloc_dmah(ptr context, ptr attr)"),
  DEALLOC_DMAH("int ibv_dealloc_dmah(ptr dmah)"),
  /** Exists since rdma-core 64. */
  ALLOC_BUF("ptr ibv_alloc_buf(ptr pd, long size, ptr buf)"),
  FREE_BUF("void ibv_free_buf(ptr buf)"),
  REG_BUF_MR("ptr ibv_reg_buf_mr(ptr pd, ptr buf, ptr addr, long length, int access)"),
  /** Exists since rdma-core 65. */
  EXPORT_BUF_DMABUF_FD("int ibv_export_buf_dmabuf_fd(ptr buf)", MINUS_ONE_WITH_ERRNO),
  QP_TO_QP_EX("ptr ibv_qp_to_qp_ex(ptr qp)", NONE),
  QUERY_QP_DATA_IN_ORDER("int ibv_query_qp_data_in_order(ptr qp, int op, int flags)", NONE),
  QUERY_ECE("int ibv_query_ece(ptr qp, ptr ece)"),
  SET_ECE("int ibv_set_ece(ptr qp, ptr ece)");

  /** The library. It is not in the enumeration, whose constants are created before its fields. */
  interface Library {
    NativeLibrary IBVERBS =
        new NativeLibrary(
            "libibverbs.so.1",
            "rdma-core (Debian, Ubuntu: libibverbs1 ibverbs-providers; Fedora, RHEL: libibverbs)");
  }

  final NativeFunction function;

  LibIbverbs(String declaration) {
    this(declaration, Failure.of(declaration, ERROR_NUMBER));
  }

  LibIbverbs(String declaration, Failure failure) {
    function = NativeFunction.exported(Library.IBVERBS, declaration, failure);
  }

  @Override
  public Object invoke(Object... arguments) throws VerbsException {
    return function.invoke(arguments);
  }
}
