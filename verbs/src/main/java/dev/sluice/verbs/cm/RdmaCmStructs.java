// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import dev.sluice.verbs.ffi.CStruct;
import dev.sluice.verbs.ibv.IbvStructs;
import java.util.Map;

/**
 * The structures of {@code rdma/rdma_cma.h}, member by member. A test compiles a C program against
 * the installed header and compares sizes and offsets. Members stay in the order of the header; an
 * array without a name stands for members that Java does not use. A {@code sockaddr_storage} is
 * large enough, and aligned, for an address of any family. The member {@code param.arg}, of USER
 * events, exists since rdma-core 60.
 */
@SuppressWarnings("NullAway") // the header has all of them
final class RdmaCmStructs {
  static final Map<String, CStruct> HEADER =
      CStruct.header(
          """
          struct sockaddr_in { short sin_family, sin_port; int sin_addr; byte sin_zero[8]; }
          struct sockaddr_in6 {
            short sin6_family, sin6_port; int sin6_flowinfo; byte sin6_addr[16]; int sin6_scope_id;
          }
          struct sockaddr_storage { short ss_family; byte __ss_padding[118]; long __ss_align; }
          struct rdma_ib_addr { union ibv_gid sgid, dgid; short pkey; }
          struct rdma_addr {
            struct sockaddr_storage src_storage, dst_storage; struct rdma_ib_addr addr.ibaddr;
          }
          struct rdma_route { struct rdma_addr addr; ptr path_rec; int num_paths; }
          struct rdma_event_channel { int fd; }
          struct rdma_cm_id {
            ptr verbs, channel, context, qp; struct rdma_route route; int ps; byte port_num;
            ptr event; long [4]; ptr srq, pd; int qp_type;
          }
          struct rdma_conn_param {
            ptr private_data;
            byte private_data_len, responder_resources, initiator_depth, flow_control,
                retry_count, rnr_retry_count, srq; int qp_num;
          }
          struct rdma_ud_param {
            ptr private_data; byte private_data_len; struct ibv_ah_attr ah_attr; int qp_num, qkey;
          }
          struct rdma_cm_event {
            ptr id, listen_id; int event, status;
            @24 struct rdma_ud_param param.ud;
            @24 struct rdma_conn_param param.conn;
            @24 long param.arg;
          }
          struct rdma_addrinfo {
            int ai_flags, ai_family, ai_qp_type, ai_port_space, ai_src_len, ai_dst_len;
            ptr ai_src_addr, ai_dst_addr, ai_src_canonname, ai_dst_canonname; long ai_route_len;
            ptr ai_route; long ai_connect_len; ptr ai_connect, ai_next;
          }
          struct rdma_cm_join_mc_attr_ex { int comp_mask, join_flags; ptr addr; }
          """,
          IbvStructs.GID,
          IbvStructs.AH_ATTR);

  static final CStruct SOCKADDR_IN = HEADER.get("struct sockaddr_in");
  static final CStruct SOCKADDR_IN6 = HEADER.get("struct sockaddr_in6");
  static final CStruct EVENT_CHANNEL = HEADER.get("struct rdma_event_channel");
  static final CStruct CM_ID = HEADER.get("struct rdma_cm_id");
  static final CStruct CONN_PARAM = HEADER.get("struct rdma_conn_param");
  static final CStruct UD_PARAM = HEADER.get("struct rdma_ud_param");
  static final CStruct CM_EVENT = HEADER.get("struct rdma_cm_event");
  static final CStruct ADDRINFO = HEADER.get("struct rdma_addrinfo");
  static final CStruct JOIN_MC_ATTR_EX = HEADER.get("struct rdma_cm_join_mc_attr_ex");

  private RdmaCmStructs() {}
}
