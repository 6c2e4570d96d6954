// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.ffi.CStruct;
import java.lang.foreign.MemorySegment;

/**
 * The structures of {@code infiniband/verbs.h}, member by member, except those in {@link
 * IbvDeviceStructs} and {@link IbvExStructs}. A test compiles a C program against the installed
 * header and compares sizes and offsets. Members stay in the order of the header; an array without
 * a name stands for members that Java does not use.
 */
public final class IbvStructs {
  /**
   * The whole address space as a constant segment. The JIT compiler reduces an access to one
   * instruction, regardless of the segment types that the rest of the program uses. Only for the
   * data path, which checks indices and the arena itself.
   */
  @SuppressWarnings("restricted")
  static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  /** Alignment as of its {@code struct global}, which holds two 64-bit numbers. */
  public static final CStruct GID = CStruct.of("union ibv_gid", "long raw[2]");

  static final CStruct GID_ENTRY =
      CStruct.of(
          "struct ibv_gid_entry",
          "union ibv_gid gid; int gid_index, port_num, gid_type, ndev_ifindex",
          GID);

  static final CStruct DEVICE =
      CStruct.of(
          "struct ibv_device",
          """
          long _ops[2]; int node_type, transport_type;
          byte name[64], dev_name[64], dev_path[256], ibdev_path[256];
          """);

  /** The pointers that inline functions of C call through; the others are omitted. */
  static final CStruct CONTEXT_OPS =
      CStruct.of(
          "struct ibv_context_ops",
          """
          long [7]; ptr alloc_mw, bind_mw, dealloc_mw; long [1]; ptr poll_cq, req_notify_cq;
          long [7]; ptr post_srq_recv; long [4]; ptr post_send, post_recv; long [5];
          """);

  static final CStruct CONTEXT =
      CStruct.of(
          "struct ibv_context",
          """
          ptr device; struct ibv_context_ops ops; int cmd_fd, async_fd, num_comp_vectors;
          pthread_mutex_t mutex; ptr abi_compat;
          """,
          CONTEXT_OPS);

  static final CStruct MR =
      CStruct.of("struct ibv_mr", "long [1]; ptr pd, addr; long length; int [1], lkey, rkey");

  public static final CStruct GLOBAL_ROUTE =
      CStruct.of(
          "struct ibv_global_route",
          "union ibv_gid dgid; int flow_label; byte sgid_index, hop_limit, traffic_class",
          GID);

  public static final CStruct AH_ATTR =
      CStruct.of(
          "struct ibv_ah_attr",
          """
          struct ibv_global_route grh; short dlid;
          byte sl, src_path_bits, static_rate, is_global, port_num;
          """,
          GLOBAL_ROUTE);

  public static final CStruct SRQ_ATTR =
      CStruct.of("struct ibv_srq_attr", "int max_wr, max_sge, srq_limit");

  public static final CStruct SRQ_INIT_ATTR =
      CStruct.of("struct ibv_srq_init_attr", "ptr srq_context; struct ibv_srq_attr attr", SRQ_ATTR);

  public static final CStruct QP_CAP =
      CStruct.of(
          "struct ibv_qp_cap",
          "int max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data");

  public static final CStruct QP_INIT_ATTR =
      CStruct.of(
          "struct ibv_qp_init_attr",
          "ptr qp_context, send_cq, recv_cq, srq; struct ibv_qp_cap cap; int qp_type, sq_sig_all",
          QP_CAP);

  public static final CStruct QP_ATTR =
      CStruct.of(
          "struct ibv_qp_attr",
          """
          int qp_state, cur_qp_state, path_mtu, path_mig_state, qkey, rq_psn, sq_psn,
              dest_qp_num, qp_access_flags; struct ibv_qp_cap cap;
          struct ibv_ah_attr ah_attr, alt_ah_attr; short pkey_index, alt_pkey_index;
          byte en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic,
              min_rnr_timer, port_num, timeout, retry_cnt, rnr_retry, alt_port_num, alt_timeout;
          int rate_limit;
          """,
          QP_CAP,
          AH_ATTR);

  static final CStruct QP =
      CStruct.of(
          "struct ibv_qp",
          """
          long [6]; int [1], qp_num, [1], qp_type; pthread_mutex_t mutex; pthread_cond_t cond;
          int events_completed;
          """);

  static final CStruct CQ =
      CStruct.of(
          "struct ibv_cq",
          """
          long [3]; int [1], cqe; pthread_mutex_t mutex; pthread_cond_t cond;
          int comp_events_completed, async_events_completed;
          """);

  static final CStruct COMP_CHANNEL =
      CStruct.of("struct ibv_comp_channel", "ptr context; int fd, refcnt");

  static final CStruct ASYNC_EVENT =
      CStruct.of("struct ibv_async_event", "long element; int event_type");

  static final CStruct SGE = CStruct.of("struct ibv_sge", "long addr; int length, lkey");

  static final CStruct SEND_WR =
      CStruct.of(
              "struct ibv_send_wr",
              """
          long wr_id; ptr next, sg_list; int num_sge, opcode, send_flags, imm_data;
          long wr.atomic.remote_addr, wr.atomic.compare_add, wr.atomic.swap; int wr.atomic.rkey;
          """)
          .ofSize(128);

  /** The other views of {@code union wr} in {@link #SEND_WR}, each with the members before it. */
  static final CStruct SEND_WR_RDMA =
      CStruct.of("struct ibv_send_wr", "byte [40]; long wr.rdma.remote_addr; int wr.rdma.rkey")
          .ofSize(SEND_WR.size());

  static final CStruct SEND_WR_UD =
      CStruct.of(
              "struct ibv_send_wr",
              "byte [40]; ptr wr.ud.ah; int wr.ud.remote_qpn, wr.ud.remote_qkey")
          .ofSize(SEND_WR.size());

  static final CStruct RECV_WR =
      CStruct.of("struct ibv_recv_wr", "long wr_id; ptr next, sg_list; int num_sge");

  static final CStruct WC =
      CStruct.of(
          "struct ibv_wc",
          """
          long wr_id;
          int status, opcode, vendor_err, byte_len, imm_data, qp_num, src_qp, wc_flags;
          short pkey_index, slid; byte sl, dlid_path_bits;
          """);

  /** Exists since rdma-core 59; the member buf since 64. */
  static final CStruct MR_INIT_ATTR =
      CStruct.of(
          "struct ibv_mr_init_attr",
          """
          long length; int access; long comp_mask, iova; ptr addr; int fd; long fd_offset;
          ptr dmah, buf;
          """);

  /** Exists since rdma-core 59. */
  static final CStruct DMAH_INIT_ATTR =
      CStruct.of("struct ibv_dmah_init_attr", "int comp_mask, cpu_id; byte ph, tph_mem_type");

  static final CStruct MW_BIND_INFO =
      CStruct.of("struct ibv_mw_bind_info", "ptr mr; long addr, length; int mw_access_flags");

  static final CStruct MW = CStruct.of("struct ibv_mw", "ptr context, pd; int rkey, handle, type");

  static final CStruct MW_BIND =
      CStruct.of(
          "struct ibv_mw_bind",
          "long wr_id; int send_flags; struct ibv_mw_bind_info bind_info",
          MW_BIND_INFO);

  /** The view of {@link #SEND_WR} for BIND_MW. */
  static final CStruct SEND_WR_BIND =
      CStruct.of(
          "struct ibv_send_wr",
          "byte [80]; ptr bind_mw.mw; int bind_mw.rkey; struct ibv_mw_bind_info bind_mw.bind_info",
          MW_BIND_INFO);

  static final CStruct GRH =
      CStruct.of(
          "struct ibv_grh",
          """
          int version_tclass_flow; short paylen; byte next_hdr, hop_limit;
          union ibv_gid sgid, dgid;
          """,
          GID);

  static final CStruct SEND_WR_XRC =
      CStruct.of("struct ibv_send_wr", "byte [72]; int qp_type.xrc.remote_srqn")
          .ofSize(SEND_WR.size());

  static final CStruct XRCD_INIT_ATTR =
      CStruct.of("struct ibv_xrcd_init_attr", "int comp_mask, fd, oflags");

  static final CStruct SRQ_INIT_ATTR_EX =
      CStruct.of(
          "struct ibv_srq_init_attr_ex",
          """
          ptr srq_context; struct ibv_srq_attr attr; int comp_mask, srq_type; ptr pd, xrcd, cq;
          int tm_cap.max_num_tags, tm_cap.max_ops;
          """,
          SRQ_ATTR);

  static final CStruct QP_OPEN_ATTR =
      CStruct.of(
          "struct ibv_qp_open_attr", "int comp_mask, qp_num; ptr xrcd, qp_context; int qp_type");

  public static final CStruct ECE =
      CStruct.of("struct ibv_ece", "int vendor_id, options, comp_mask");

  private IbvStructs() {}

  /** Copies a structure to the Java heap, which needs no free. */
  static MemorySegment copy(MemorySegment struct) {
    long words = (struct.byteSize() + Long.BYTES - 1) / Long.BYTES;
    MemorySegment copy = MemorySegment.ofArray(new long[(int) words]);
    return copy.copyFrom(struct);
  }
}
