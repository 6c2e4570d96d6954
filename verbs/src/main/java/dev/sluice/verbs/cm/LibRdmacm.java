// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static dev.sluice.verbs.ffi.Failure.ERROR_NUMBER;
import static dev.sluice.verbs.ffi.Failure.MINUS_ONE_WITH_ERRNO;
import static dev.sluice.verbs.ffi.Failure.NONE;

import dev.sluice.verbs.ffi.Failure;
import dev.sluice.verbs.ffi.NativeFunction;
import dev.sluice.verbs.ffi.NativeLibrary;

/**
 * The functions that librdmacm.so.1 exports, each with the failure convention of its manual page.
 * {@link RdmaVerbs} has the inline functions of rdma_verbs.h. The classes of this package call them
 * on any thread; the library is loaded at the first call. A function without a convention returns
 * -1, or NULL if it returns a pointer, and sets errno. rdma_destroy_qp and rdma_destroy_srq are not
 * called, because they hide failures.
 */
final class LibRdmacm {
  static final NativeLibrary LIBRARY =
      new NativeLibrary(
          "librdmacm.so.1", "rdma-core (Debian, Ubuntu: librdmacm1; Fedora, RHEL: librdmacm)");

  static final NativeFunction CREATE_EVENT_CHANNEL = function("ptr rdma_create_event_channel()");
  static final NativeFunction DESTROY_EVENT_CHANNEL =
      function("void rdma_destroy_event_channel(ptr channel)");
  static final NativeFunction GET_CM_EVENT =
      function("int rdma_get_cm_event(ptr channel, ptr event)");
  static final NativeFunction ACK_CM_EVENT = function("int rdma_ack_cm_event(ptr event)");
  static final NativeFunction EVENT_STR = function("ptr rdma_event_str(int event)", NONE);

  static final NativeFunction CREATE_ID =
      function("int rdma_create_id(ptr channel, ptr id, ptr context, int ps)");

  /** Waits until all taken events of the id are acknowledged. */
  static final NativeFunction DESTROY_ID = function("int rdma_destroy_id(ptr id)");

  static final NativeFunction SET_OPTION =
      function("int rdma_set_option(ptr id, int level, int optname, ptr optval, long optlen)");

  static final NativeFunction BIND_ADDR = function("int rdma_bind_addr(ptr id, ptr addr)");
  static final NativeFunction LISTEN = function("int rdma_listen(ptr id, int backlog)");
  static final NativeFunction RESOLVE_ADDR =
      function("int rdma_resolve_addr(ptr id, ptr src_addr, ptr dst_addr, int timeout_ms)");
  static final NativeFunction RESOLVE_ROUTE =
      function("int rdma_resolve_route(ptr id, int timeout_ms)");

  static final NativeFunction CREATE_QP =
      function("int rdma_create_qp(ptr id, ptr pd, ptr qp_init_attr)");
  static final NativeFunction INIT_QP_ATTR =
      function("int rdma_init_qp_attr(ptr id, ptr qp_attr, ptr qp_attr_mask)");

  static final NativeFunction CONNECT = function("int rdma_connect(ptr id, ptr conn_param)");
  static final NativeFunction ACCEPT = function("int rdma_accept(ptr id, ptr conn_param)");
  static final NativeFunction REJECT =
      function("int rdma_reject(ptr id, ptr private_data, byte private_data_len)");
  static final NativeFunction ESTABLISH = function("int rdma_establish(ptr id)");
  static final NativeFunction DISCONNECT = function("int rdma_disconnect(ptr id)");

  /** Returns -1 with errno, or an EAI_ number of getaddrinfo(3). */
  static final NativeFunction GETADDRINFO =
      function("int rdma_getaddrinfo(ptr node, ptr service, ptr hints, ptr res)");

  static final NativeFunction FREEADDRINFO = function("void rdma_freeaddrinfo(ptr res)");

  /** Exists since rdma-core 60, as the two functions after it. */
  static final NativeFunction RESOLVE_ADDRINFO =
      function("int rdma_resolve_addrinfo(ptr id, ptr node, ptr service, ptr hints)");

  static final NativeFunction QUERY_ADDRINFO =
      function("int rdma_query_addrinfo(ptr id, ptr info)");
  static final NativeFunction WRITE_CM_EVENT =
      function("int rdma_write_cm_event(ptr id, int event, int status, long arg)");

  static final NativeFunction CREATE_EP =
      function("int rdma_create_ep(ptr id, ptr res, ptr pd, ptr qp_init_attr)");
  static final NativeFunction DESTROY_EP = function("void rdma_destroy_ep(ptr id)");
  static final NativeFunction GET_REQUEST = function("int rdma_get_request(ptr listen, ptr id)");
  static final NativeFunction MIGRATE_ID = function("int rdma_migrate_id(ptr id, ptr channel)");
  static final NativeFunction NOTIFY = function("int rdma_notify(ptr id, int event)");

  static final NativeFunction JOIN_MULTICAST =
      function("int rdma_join_multicast(ptr id, ptr addr, ptr context)");
  static final NativeFunction JOIN_MULTICAST_EX =
      function("int rdma_join_multicast_ex(ptr id, ptr mc_join_attr, ptr context)");
  static final NativeFunction LEAVE_MULTICAST =
      function("int rdma_leave_multicast(ptr id, ptr addr)");

  static final NativeFunction GET_DEVICES = function("ptr rdma_get_devices(ptr num_devices)");
  static final NativeFunction FREE_DEVICES = function("void rdma_free_devices(ptr list)");

  static final NativeFunction CREATE_SRQ =
      function("int rdma_create_srq(ptr id, ptr pd, ptr attr)");
  static final NativeFunction CREATE_SRQ_EX = function("int rdma_create_srq_ex(ptr id, ptr attr)");

  static final NativeFunction SET_LOCAL_ECE = function("int rdma_set_local_ece(ptr id, ptr ece)");
  static final NativeFunction GET_REMOTE_ECE = function("int rdma_get_remote_ece(ptr id, ptr ece)");
  static final NativeFunction REJECT_ECE =
      function("int rdma_reject_ece(ptr id, ptr private_data, byte private_data_len)");

  static final NativeFunction CREATE_QP_EX =
      function("int rdma_create_qp_ex(ptr id, ptr qp_init_attr)");

  /** Function of libibverbs, on which librdmacm depends; used instead of rdma_destroy_qp. */
  static final NativeFunction IBV_DESTROY_QP = function("int ibv_destroy_qp(ptr qp)", ERROR_NUMBER);

  /** Function of libibverbs, used instead of rdma_destroy_srq. */
  static final NativeFunction IBV_DESTROY_SRQ =
      function("int ibv_destroy_srq(ptr srq)", ERROR_NUMBER);

  private LibRdmacm() {}

  private static NativeFunction function(String declaration) {
    return function(declaration, Failure.of(declaration, MINUS_ONE_WITH_ERRNO));
  }

  private static NativeFunction function(String declaration, Failure failure) {
    return NativeFunction.exported(LIBRARY, declaration, failure);
  }
}
