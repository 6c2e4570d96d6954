// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static dev.sluice.verbs.ffi.Failure.ERROR_NUMBER;
import static dev.sluice.verbs.ffi.Failure.MINUS_ONE_WITH_ERRNO;
import static dev.sluice.verbs.ffi.Failure.NONE;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CFunction;
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
enum LibRdmacm implements CFunction {
  CREATE_EVENT_CHANNEL("ptr rdma_create_event_channel()"),
  DESTROY_EVENT_CHANNEL("void rdma_destroy_event_channel(ptr channel)"),
  GET_CM_EVENT("int rdma_get_cm_event(ptr channel, ptr event)"),
  ACK_CM_EVENT("int rdma_ack_cm_event(ptr event)"),
  EVENT_STR("ptr rdma_event_str(int event)", NONE),
  CREATE_ID("int rdma_create_id(ptr channel, ptr id, ptr context, int ps)"),
  /** Waits until all taken events of the id are acknowledged. */
  DESTROY_ID("int rdma_destroy_id(ptr id)"),
  SET_OPTION("int rdma_set_option(ptr id, int level, int optname, ptr optval, long optlen)"),
  BIND_ADDR("int rdma_bind_addr(ptr id, ptr addr)"),
  LISTEN("int rdma_listen(ptr id, int backlog)"),
  RESOLVE_ADDR("int rdma_resolve_addr(ptr id, ptr src_addr, ptr dst_addr, int timeout_ms)"),
  RESOLVE_ROUTE("int rdma_resolve_route(ptr id, int timeout_ms)"),
  CREATE_QP("int rdma_create_qp(ptr id, ptr pd, ptr qp_init_attr)"),
  INIT_QP_ATTR("int rdma_init_qp_attr(ptr id, ptr qp_attr, ptr qp_attr_mask)"),
  CONNECT("int rdma_connect(ptr id, ptr conn_param)"),
  ACCEPT("int rdma_accept(ptr id, ptr conn_param)"),
  REJECT("int rdma_reject(ptr id, ptr private_data, byte private_data_len)"),
  ESTABLISH("int rdma_establish(ptr id)"),
  DISCONNECT("int rdma_disconnect(ptr id)"),
  /** Returns -1 with errno, or an EAI_ number of getaddrinfo(3). */
  GETADDRINFO("int rdma_getaddrinfo(ptr node, ptr service, ptr hints, ptr res)"),
  FREEADDRINFO("void rdma_freeaddrinfo(ptr res)"),
  /** Exists since rdma-core 60, as the two functions after it. */
  RESOLVE_ADDRINFO("int rdma_resolve_addrinfo(ptr id, ptr node, ptr service, ptr hints)"),
  QUERY_ADDRINFO("int rdma_query_addrinfo(ptr id, ptr info)"),
  WRITE_CM_EVENT("int rdma_write_cm_event(ptr id, int event, int status, long arg)"),
  CREATE_EP("int rdma_create_ep(ptr id, ptr res, ptr pd, ptr qp_init_attr)"),
  DESTROY_EP("void rdma_destroy_ep(ptr id)"),
  GET_REQUEST("int rdma_get_request(ptr listen, ptr id)"),
  MIGRATE_ID("int rdma_migrate_id(ptr id, ptr channel)"),
  NOTIFY("int rdma_notify(ptr id, int event)"),
  JOIN_MULTICAST("int rdma_join_multicast(ptr id, ptr addr, ptr context)"),
  JOIN_MULTICAST_EX("int rdma_join_multicast_ex(ptr id, ptr mc_join_attr, ptr context)"),
  LEAVE_MULTICAST("int rdma_leave_multicast(ptr id, ptr addr)"),
  GET_DEVICES("ptr rdma_get_devices(ptr num_devices)"),
  FREE_DEVICES("void rdma_free_devices(ptr list)"),
  CREATE_SRQ("int rdma_create_srq(ptr id, ptr pd, ptr attr)"),
  CREATE_SRQ_EX("int rdma_create_srq_ex(ptr id, ptr attr)"),
  SET_LOCAL_ECE("int rdma_set_local_ece(ptr id, ptr ece)"),
  GET_REMOTE_ECE("int rdma_get_remote_ece(ptr id, ptr ece)"),
  REJECT_ECE("int rdma_reject_ece(ptr id, ptr private_data, byte private_data_len)"),
  CREATE_QP_EX("int rdma_create_qp_ex(ptr id, ptr qp_init_attr)"),
  /** Function of libibverbs, on which librdmacm depends; used instead of rdma_destroy_qp. */
  IBV_DESTROY_QP("int ibv_destroy_qp(ptr qp)", ERROR_NUMBER),
  /** Function of libibverbs, used instead of rdma_destroy_srq. */
  IBV_DESTROY_SRQ("int ibv_destroy_srq(ptr srq)", ERROR_NUMBER);

  /** The library. It is not in the enumeration, whose constants are created before its fields. */
  interface Library {
    NativeLibrary RDMACM =
        new NativeLibrary(
            "librdmacm.so.1", "rdma-core (Debian, Ubuntu: librdmacm1; Fedora, RHEL: librdmacm)");
  }

  final NativeFunction function;

  LibRdmacm(String declaration) {
    this(declaration, Failure.of(declaration, MINUS_ONE_WITH_ERRNO));
  }

  LibRdmacm(String declaration, Failure failure) {
    function = NativeFunction.exported(Library.RDMACM, declaration, failure);
  }

  @Override
  public Object invoke(Object... arguments) throws VerbsException {
    return function.invoke(arguments);
  }
}
