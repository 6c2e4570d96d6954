// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.ffi.CStruct;

/** Structures of the extended verbs (ibv_create_qp_ex(3)); otherwise like {@link IbvStructs}. */
final class IbvExStructs {
  /**
   * The end of {@code struct verbs_context}, which holds the extended operations. It lies right
   * before its {@code struct ibv_context} and grows at its start, so offsets count from its end.
   */
  static final CStruct VERBS_CONTEXT =
      CStruct.of(
          "struct verbs_context",
          """
          ptr query_port, advise_mr; long alloc_null_mr[1], read_counters[22]; ptr create_cq_ex;
          long priv[1]; ptr query_device_ex; long ibv_destroy_flow[4];
          ptr open_qp, create_qp_ex, get_srq_num, create_srq_ex, open_xrcd, close_xrcd;
          long _ABI_placeholder3[1], sz; struct ibv_context context;
          """,
          IbvStructs.CONTEXT);

  static final CStruct QP_INIT_ATTR_EX =
      CStruct.of(
          "struct ibv_qp_init_attr_ex",
          """
          ptr qp_context, send_cq, recv_cq, srq; struct ibv_qp_cap cap;
          int qp_type, sq_sig_all, comp_mask; ptr pd, xrcd; int create_flags;
          short max_tso_header; ptr rwq_ind_tbl; long rx_hash_conf[3]; int source_qpn;
          long send_ops_flags;
          """,
          IbvStructs.QP_CAP);

  /** Omits {@code wr_flush}, which later releases of rdma-core append. */
  static final CStruct QP_EX =
      CStruct.of(
          "struct ibv_qp_ex",
          """
          struct ibv_qp qp_base; long comp_mask, wr_id; int wr_flags;
          ptr wr_atomic_cmp_swp, wr_atomic_fetch_add, wr_bind_mw, wr_local_inv, wr_rdma_read,
              wr_rdma_write, wr_rdma_write_imm, wr_send, wr_send_imm, wr_send_inv, wr_send_tso,
              wr_set_ud_addr, wr_set_xrc_srqn, wr_set_inline_data, wr_set_inline_data_list,
              wr_set_sge, wr_set_sge_list, wr_start, wr_complete, wr_abort, wr_atomic_write;
          """,
          IbvStructs.QP);

  static final CStruct CQ_INIT_ATTR_EX =
      CStruct.of(
          "struct ibv_cq_init_attr_ex",
          """
          int cqe; ptr cq_context, channel; int comp_vector; long wc_flags; int comp_mask, flags;
          ptr parent_domain;
          """);

  static final CStruct POLL_CQ_ATTR = CStruct.of("struct ibv_poll_cq_attr", "int comp_mask");

  static final CStruct WC_TM_INFO = CStruct.of("struct ibv_wc_tm_info", "long tag; int priv");

  /** Begins like {@code struct ibv_cq}. */
  static final CStruct CQ_EX =
      CStruct.of(
          "struct ibv_cq_ex",
          """
          struct ibv_cq [1]; int comp_mask, status; long wr_id;
          ptr start_poll, next_poll, end_poll, read_opcode, read_vendor_err, read_byte_len,
              read_imm_data, read_qp_num, read_src_qp, read_wc_flags, read_slid, read_sl,
              read_dlid_path_bits, read_completion_ts, read_cvlan, read_flow_tag, read_tm_info,
              read_completion_wallclock_ns;
          """,
          IbvStructs.CQ);

  private IbvExStructs() {}
}
