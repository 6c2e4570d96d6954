// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.ffi.CStruct;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/**
 * The structures of {@code infiniband/verbs.h}, member by member. A test compiles a C program
 * against the installed header and compares sizes and offsets. Members stay in the order of the
 * header; an array without a name stands for members that Java does not use. Members that newer
 * releases append to attributes of devices and ports come last: C fills in what the given size
 * covers.
 */
@SuppressWarnings("NullAway") // the header has all of them
public final class IbvStructs {
  /**
   * The whole address space as a constant segment. The JIT compiler reduces an access to one
   * instruction, regardless of the segment types that the rest of the program uses. Only for the
   * data path, which checks indices and the arena itself. It has aligned memory and therefore uses
   * unaligned layouts, whose accesses omit the check.
   */
  @SuppressWarnings("restricted")
  static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  /**
   * The declarations. A {@code union ibv_gid} is aligned as its {@code struct global}, which holds
   * two 64-bit numbers. {@code struct ibv_context_ops} has the pointers that inline functions of C
   * call through. {@code struct ibv_qp_ex} omits {@code wr_flush}, which later releases of
   * rdma-core append. {@code struct ibv_cq_ex} begins like {@code struct ibv_cq}. {@code struct
   * ibv_mr_init_attr} and {@code struct ibv_dmah_init_attr} exist since rdma-core 59, the member
   * {@code buf} since 64.
   */
  static final Map<String, CStruct> HEADER =
      CStruct.header(
          """
          union ibv_gid { long raw[2]; }
          struct ibv_gid_entry {
            union ibv_gid gid; int gid_index, port_num, gid_type, ndev_ifindex;
          }
          struct ibv_device {
            long _ops[2]; int node_type, transport_type;
            byte name[64], dev_name[64], dev_path[256], ibdev_path[256];
          }
          struct ibv_context_ops {
            long [7]; ptr alloc_mw, bind_mw, dealloc_mw; long [1]; ptr poll_cq, req_notify_cq;
            long [7]; ptr post_srq_recv; long [4]; ptr post_send, post_recv; long [5];
          }
          struct ibv_context {
            ptr device; struct ibv_context_ops ops; int cmd_fd, async_fd, num_comp_vectors;
            pthread_mutex_t mutex; ptr abi_compat;
          }
          struct verbs_context {
            ptr query_port, advise_mr; long alloc_null_mr[1], read_counters[22]; ptr create_cq_ex;
            long priv[1]; ptr query_device_ex; long ibv_destroy_flow[4];
            ptr open_qp, create_qp_ex, get_srq_num, create_srq_ex, open_xrcd, close_xrcd;
            long _ABI_placeholder3[1], sz; struct ibv_context context;
          }
          struct ibv_device_attr {
            byte fw_ver[64]; long node_guid, sys_image_guid, max_mr_size, page_size_cap;
            int vendor_id, vendor_part_id, hw_ver, max_qp, max_qp_wr, device_cap_flags, max_sge,
                max_sge_rd, max_cq, max_cqe, max_mr, max_pd, max_qp_rd_atom, max_ee_rd_atom,
                max_res_rd_atom, max_qp_init_rd_atom, max_ee_init_rd_atom, atomic_cap, max_ee,
                max_rdd, max_mw, max_raw_ipv6_qp, max_raw_ethy_qp, max_mcast_grp,
                max_mcast_qp_attach, max_total_mcast_qp_attach, max_ah, max_fmr, max_map_per_fmr,
                max_srq, max_srq_wr, max_srq_sge; short max_pkeys;
            byte local_ca_ack_delay, phys_port_cnt;
          }
          struct ibv_odp_caps {
            long general_caps; int per_transport_caps.rc_odp_caps, per_transport_caps.uc_odp_caps,
                per_transport_caps.ud_odp_caps;
          }
          struct ibv_tso_caps { int max_tso, supported_qpts; }
          struct ibv_rss_caps {
            int supported_qpts, max_rwq_indirection_tables, max_rwq_indirection_table_size;
            long rx_hash_fields_mask; byte rx_hash_function;
          }
          struct ibv_packet_pacing_caps {
            int qp_rate_limit_min, qp_rate_limit_max, supported_qpts;
          }
          struct ibv_tm_caps { int max_rndv_hdr_size, max_num_tags, flags, max_ops, max_sge; }
          struct ibv_cq_moderation_caps { short max_cq_count, max_cq_period; }
          struct ibv_pci_atomic_caps { short fetch_add, swap, compare_swap; }
          struct ibv_device_attr_ex {
            struct ibv_device_attr orig_attr; int comp_mask; struct ibv_odp_caps odp_caps;
            long completion_timestamp_mask, hca_core_clock, device_cap_flags_ex;
            struct ibv_tso_caps tso_caps; struct ibv_rss_caps rss_caps; int max_wq_type_rq;
            struct ibv_packet_pacing_caps packet_pacing_caps; int raw_packet_caps;
            struct ibv_tm_caps tm_caps; struct ibv_cq_moderation_caps cq_mod_caps;
            long max_dm_size; struct ibv_pci_atomic_caps pci_atomic_caps;
            int xrc_odp_caps, phys_port_cnt_ex;
          }
          struct ibv_port_attr {
            int state, max_mtu, active_mtu, gid_tbl_len, port_cap_flags, max_msg_sz,
                bad_pkey_cntr, qkey_viol_cntr; short pkey_tbl_len, lid, sm_lid;
            byte lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply, active_width,
                active_speed, phys_state, link_layer, flags; short port_cap_flags2;
          }
          struct ibv_async_event { long element; int event_type; }

          struct ibv_mr { long [1]; ptr pd, addr; long length; int [1], lkey, rkey; }
          struct ibv_mr_init_attr {
            long length; int access; long comp_mask, iova; ptr addr; int fd; long fd_offset;
            ptr dmah, buf;
          }
          struct ibv_dmah_init_attr { int comp_mask, cpu_id; byte ph, tph_mem_type; }
          struct ibv_mw { ptr context, pd; int rkey, handle, type; }
          struct ibv_mw_bind_info { ptr mr; long addr, length; int mw_access_flags; }
          struct ibv_mw_bind { long wr_id; int send_flags; struct ibv_mw_bind_info bind_info; }
          struct ibv_xrcd_init_attr { int comp_mask, fd, oflags; }

          struct ibv_global_route {
            union ibv_gid dgid; int flow_label; byte sgid_index, hop_limit, traffic_class;
          }
          struct ibv_ah_attr {
            struct ibv_global_route grh; short dlid;
            byte sl, src_path_bits, static_rate, is_global, port_num;
          }
          struct ibv_grh {
            int version_tclass_flow; short paylen; byte next_hdr, hop_limit;
            union ibv_gid sgid, dgid;
          }

          struct ibv_srq_attr { int max_wr, max_sge, srq_limit; }
          struct ibv_srq_init_attr { ptr srq_context; struct ibv_srq_attr attr; }
          struct ibv_srq_init_attr_ex {
            ptr srq_context; struct ibv_srq_attr attr; int comp_mask, srq_type; ptr pd, xrcd, cq;
            int tm_cap.max_num_tags, tm_cap.max_ops;
          }

          struct ibv_qp_cap {
            int max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data;
          }
          struct ibv_qp_init_attr {
            ptr qp_context, send_cq, recv_cq, srq; struct ibv_qp_cap cap; int qp_type, sq_sig_all;
          }
          struct ibv_qp_init_attr_ex {
            ptr qp_context, send_cq, recv_cq, srq; struct ibv_qp_cap cap;
            int qp_type, sq_sig_all, comp_mask; ptr pd, xrcd; int create_flags;
            short max_tso_header; ptr rwq_ind_tbl; long rx_hash_conf[3]; int source_qpn;
            long send_ops_flags;
          }
          struct ibv_qp_open_attr { int comp_mask, qp_num; ptr xrcd, qp_context; int qp_type; }
          struct ibv_qp_attr {
            int qp_state, cur_qp_state, path_mtu, path_mig_state, qkey, rq_psn, sq_psn,
                dest_qp_num, qp_access_flags; struct ibv_qp_cap cap;
            struct ibv_ah_attr ah_attr, alt_ah_attr; short pkey_index, alt_pkey_index;
            byte en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic,
                min_rnr_timer, port_num, timeout, retry_cnt, rnr_retry, alt_port_num, alt_timeout;
            int rate_limit;
          }
          struct ibv_ece { int vendor_id, options, comp_mask; }
          struct ibv_qp {
            long [6]; int [1], qp_num, [1], qp_type; pthread_mutex_t mutex; pthread_cond_t cond;
            int events_completed;
          }
          struct ibv_qp_ex {
            struct ibv_qp qp_base; long comp_mask, wr_id; int wr_flags;
            ptr wr_atomic_cmp_swp, wr_atomic_fetch_add, wr_bind_mw, wr_local_inv, wr_rdma_read,
                wr_rdma_write, wr_rdma_write_imm, wr_send, wr_send_imm, wr_send_inv, wr_send_tso,
                wr_set_ud_addr, wr_set_xrc_srqn, wr_set_inline_data, wr_set_inline_data_list,
                wr_set_sge, wr_set_sge_list, wr_start, wr_complete, wr_abort, wr_atomic_write;
          }

          struct ibv_comp_channel { ptr context; int fd, refcnt; }
          struct ibv_cq {
            long [3]; int [1], cqe; pthread_mutex_t mutex; pthread_cond_t cond;
            int comp_events_completed, async_events_completed;
          }
          struct ibv_cq_init_attr_ex {
            int cqe; ptr cq_context, channel; int comp_vector; long wc_flags; int comp_mask, flags;
            ptr parent_domain;
          }
          struct ibv_poll_cq_attr { int comp_mask; }
          struct ibv_wc_tm_info { long tag; int priv; }
          struct ibv_cq_ex {
            struct ibv_cq [1]; int comp_mask, status; long wr_id;
            ptr start_poll, next_poll, end_poll, read_opcode, read_vendor_err, read_byte_len,
                read_imm_data, read_qp_num, read_src_qp, read_wc_flags, read_slid, read_sl,
                read_dlid_path_bits, read_completion_ts, read_cvlan, read_flow_tag, read_tm_info,
                read_completion_wallclock_ns;
          }

          struct ibv_sge { long addr; int length, lkey; }
          struct ibv_recv_wr { long wr_id; ptr next, sg_list; int num_sge; }
          struct ibv_send_wr {
            long wr_id; ptr next, sg_list; int num_sge, opcode, send_flags, imm_data;
            @40 long wr.rdma.remote_addr; int wr.rdma.rkey;
            @40 long wr.atomic.remote_addr, wr.atomic.compare_add, wr.atomic.swap;
            int wr.atomic.rkey;
            @40 ptr wr.ud.ah; int wr.ud.remote_qpn, wr.ud.remote_qkey;
            @72 int qp_type.xrc.remote_srqn;
            @80 ptr bind_mw.mw; int bind_mw.rkey; struct ibv_mw_bind_info bind_mw.bind_info;
          }
          struct ibv_wc {
            long wr_id;
            int status, opcode, vendor_err, byte_len, imm_data, qp_num, src_qp, wc_flags;
            short pkey_index, slid; byte sl, dlid_path_bits;
          }
          """);

  public static final CStruct GID = HEADER.get("union ibv_gid");
  public static final CStruct AH_ATTR = HEADER.get("struct ibv_ah_attr");
  public static final CStruct SRQ_INIT_ATTR = HEADER.get("struct ibv_srq_init_attr");
  public static final CStruct QP_ATTR = HEADER.get("struct ibv_qp_attr");
  public static final CStruct ECE = HEADER.get("struct ibv_ece");

  static final CStruct GID_ENTRY = HEADER.get("struct ibv_gid_entry");
  static final CStruct DEVICE = HEADER.get("struct ibv_device");
  static final CStruct CONTEXT = HEADER.get("struct ibv_context");

  /**
   * The end of {@code struct verbs_context}, which holds the extended operations. It lies right
   * before its {@code struct ibv_context} and grows at its start, so offsets count from its end.
   */
  static final CStruct VERBS_CONTEXT = HEADER.get("struct verbs_context");

  static final CStruct DEVICE_ATTR_EX = HEADER.get("struct ibv_device_attr_ex");
  static final CStruct PORT_ATTR = HEADER.get("struct ibv_port_attr");
  static final CStruct ASYNC_EVENT = HEADER.get("struct ibv_async_event");
  static final CStruct MR = HEADER.get("struct ibv_mr");
  static final CStruct MR_INIT_ATTR = HEADER.get("struct ibv_mr_init_attr");
  static final CStruct DMAH_INIT_ATTR = HEADER.get("struct ibv_dmah_init_attr");
  static final CStruct MW = HEADER.get("struct ibv_mw");
  static final CStruct MW_BIND_INFO = HEADER.get("struct ibv_mw_bind_info");
  static final CStruct MW_BIND = HEADER.get("struct ibv_mw_bind");
  static final CStruct XRCD_INIT_ATTR = HEADER.get("struct ibv_xrcd_init_attr");
  static final CStruct GRH = HEADER.get("struct ibv_grh");
  static final CStruct SRQ_ATTR = HEADER.get("struct ibv_srq_attr");
  static final CStruct SRQ_INIT_ATTR_EX = HEADER.get("struct ibv_srq_init_attr_ex");
  static final CStruct QP_CAP = HEADER.get("struct ibv_qp_cap");
  static final CStruct QP_INIT_ATTR = HEADER.get("struct ibv_qp_init_attr");
  static final CStruct QP_INIT_ATTR_EX = HEADER.get("struct ibv_qp_init_attr_ex");
  static final CStruct QP_OPEN_ATTR = HEADER.get("struct ibv_qp_open_attr");
  static final CStruct QP = HEADER.get("struct ibv_qp");
  static final CStruct QP_EX = HEADER.get("struct ibv_qp_ex");
  static final CStruct COMP_CHANNEL = HEADER.get("struct ibv_comp_channel");
  static final CStruct CQ = HEADER.get("struct ibv_cq");
  static final CStruct CQ_INIT_ATTR_EX = HEADER.get("struct ibv_cq_init_attr_ex");
  static final CStruct WC_TM_INFO = HEADER.get("struct ibv_wc_tm_info");
  static final CStruct CQ_EX = HEADER.get("struct ibv_cq_ex");
  static final CStruct SGE = HEADER.get("struct ibv_sge");
  static final CStruct RECV_WR = HEADER.get("struct ibv_recv_wr");
  static final CStruct SEND_WR = HEADER.get("struct ibv_send_wr");
  static final CStruct WC = HEADER.get("struct ibv_wc");

  private IbvStructs() {}
}
