// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import dev.sluice.verbs.ffi.CStruct;
import dev.sluice.verbs.ibv.IbvStructs;

/**
 * The structures of {@code rdma/rdma_cma.h}, member by member. A test compiles a C program against
 * the installed header and compares sizes and offsets. Members stay in the order of the header; an
 * array without a name stands for members that Java does not use.
 */
final class RdmaCmStructs {
  static final CStruct SOCKADDR_IN =
      CStruct.of(
          "struct sockaddr_in", "short sin_family, sin_port; int sin_addr; byte sin_zero[8]");

  static final CStruct SOCKADDR_IN6 =
      CStruct.of(
          "struct sockaddr_in6",
          "short sin6_family, sin6_port; int sin6_flowinfo; byte sin6_addr[16]; int sin6_scope_id");

  /** Large enough, and aligned, for an address of any family. */
  static final CStruct SOCKADDR_STORAGE =
      CStruct.of(
          "struct sockaddr_storage", "short ss_family; byte __ss_padding[118]; long __ss_align");

  static final CStruct IB_ADDR =
      CStruct.of("struct rdma_ib_addr", "union ibv_gid sgid, dgid; short pkey", IbvStructs.GID);

  static final CStruct ADDR =
      CStruct.of(
          "struct rdma_addr",
          "struct sockaddr_storage src_storage, dst_storage; struct rdma_ib_addr addr.ibaddr",
          SOCKADDR_STORAGE,
          IB_ADDR);

  static final CStruct ROUTE =
      CStruct.of("struct rdma_route", "struct rdma_addr addr; ptr path_rec; int num_paths", ADDR);

  static final CStruct EVENT_CHANNEL = CStruct.of("struct rdma_event_channel", "int fd");

  static final CStruct CM_ID =
      CStruct.of(
              "struct rdma_cm_id",
              """
          ptr verbs, channel, context, qp; struct rdma_route route; int ps; byte port_num;
          ptr event; long [4]; ptr srq, pd; int qp_type;
          """,
              ROUTE)
          .ofSize(416);

  static final CStruct CONN_PARAM =
      CStruct.of(
          "struct rdma_conn_param",
          """
          ptr private_data;
          byte private_data_len, responder_resources, initiator_depth, flow_control, retry_count,
              rnr_retry_count, srq; int qp_num;
          """);

  static final CStruct UD_PARAM =
      CStruct.of(
          "struct rdma_ud_param",
          "ptr private_data; byte private_data_len; struct ibv_ah_attr ah_attr; int qp_num, qkey",
          IbvStructs.AH_ATTR);

  static final CStruct CM_EVENT =
      CStruct.of(
          "struct rdma_cm_event",
          "ptr id, listen_id; int event, status; struct rdma_ud_param param.ud",
          UD_PARAM);

  /** The other view of {@code union param} in {@link #CM_EVENT}, with the members before it. */
  static final CStruct CM_EVENT_CONN =
      CStruct.of("struct rdma_cm_event", "byte [24]; struct rdma_conn_param param.conn", CONN_PARAM)
          .ofSize(CM_EVENT.size());

  /** The view for a USER event; the member arg exists since rdma-core 60. */
  static final CStruct CM_EVENT_USER =
      CStruct.of("struct rdma_cm_event", "byte [24]; long param.arg").ofSize(CM_EVENT.size());

  static final CStruct ADDRINFO =
      CStruct.of(
          "struct rdma_addrinfo",
          """
          int ai_flags, ai_family, ai_qp_type, ai_port_space, ai_src_len, ai_dst_len;
          ptr ai_src_addr, ai_dst_addr, ai_src_canonname, ai_dst_canonname; long ai_route_len;
          ptr ai_route; long ai_connect_len; ptr ai_connect, ai_next;
          """);

  static final CStruct JOIN_MC_ATTR_EX =
      CStruct.of("struct rdma_cm_join_mc_attr_ex", "int comp_mask, join_flags; ptr addr");

  private RdmaCmStructs() {}
}
