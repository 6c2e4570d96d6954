package dev.sluice.rdma.verbs.ibv;

import static dev.sluice.rdma.verbs.ffi.CStruct.bytes;
import static dev.sluice.rdma.verbs.ffi.CStruct.pointer;
import static dev.sluice.rdma.verbs.ffi.CStruct.struct;
import static dev.sluice.rdma.verbs.ffi.CStruct.u16;
import static dev.sluice.rdma.verbs.ffi.CStruct.u32;
import static dev.sluice.rdma.verbs.ffi.CStruct.u64;
import static dev.sluice.rdma.verbs.ffi.CStruct.u8;
import static dev.sluice.rdma.verbs.ffi.CStruct.words;

import dev.sluice.rdma.verbs.ffi.CStruct;
import java.lang.foreign.MemorySegment;

/**
 * The structures of {@code infiniband/verbs.h}, member by member, but for those of {@link
 * IbvDeviceStructs}. A test compiles a C program against the installed header and compares sizes
 * and offsets.
 */
public final class IbvStructs {
  /** Aligned as its {@code struct global} of two 64-bit numbers is. */
  public static final CStruct GID = CStruct.of("union ibv_gid", words("raw", 2));

  static final CStruct GID_ENTRY =
      CStruct.of(
          "struct ibv_gid_entry",
          struct("gid", GID),
          u32("gid_index"),
          u32("port_num"),
          u32("gid_type"),
          u32("ndev_ifindex"));

  static final CStruct DEVICE =
      CStruct.of(
          "struct ibv_device",
          words("_ops", 2),
          u32("node_type"),
          u32("transport_type"),
          bytes("name", 64),
          bytes("dev_name", 64),
          bytes("dev_path", 256),
          bytes("ibdev_path", 256));

  /** The pointers that inline functions in C call through; Java leaves the others out. */
  static final CStruct CONTEXT_OPS =
      CStruct.of(
          "struct ibv_context_ops",
          words("", 11),
          pointer("poll_cq"),
          pointer("req_notify_cq"),
          words("", 7),
          pointer("post_srq_recv"),
          words("", 4),
          pointer("post_send"),
          pointer("post_recv"),
          words("", 5));

  static final CStruct CONTEXT =
      CStruct.of(
              "struct ibv_context",
              pointer("device"),
              struct("ops", CONTEXT_OPS),
              u32("cmd_fd"),
              u32("async_fd"),
              u32("num_comp_vectors"),
              words("mutex", 5),
              pointer("abi_compat"))
          .ofSize(328);

  static final CStruct MR =
      CStruct.of(
          "struct ibv_mr",
          words("", 2),
          pointer("addr"),
          u64("length"),
          u32(""),
          u32("lkey"),
          u32("rkey"));

  public static final CStruct GLOBAL_ROUTE =
      CStruct.of(
          "struct ibv_global_route",
          struct("dgid", GID),
          u32("flow_label"),
          u8("sgid_index"),
          u8("hop_limit"),
          u8("traffic_class"));

  public static final CStruct AH_ATTR =
      CStruct.of(
          "struct ibv_ah_attr",
          struct("grh", GLOBAL_ROUTE),
          u16("dlid"),
          u8("sl"),
          u8("src_path_bits"),
          u8("static_rate"),
          u8("is_global"),
          u8("port_num"));

  static final CStruct SRQ_ATTR =
      CStruct.of("struct ibv_srq_attr", u32("max_wr"), u32("max_sge"), u32("srq_limit"));

  static final CStruct SRQ_INIT_ATTR =
      CStruct.of("struct ibv_srq_init_attr", pointer("srq_context"), struct("attr", SRQ_ATTR));

  public static final CStruct QP_CAP =
      CStruct.of(
          "struct ibv_qp_cap",
          u32("max_send_wr"),
          u32("max_recv_wr"),
          u32("max_send_sge"),
          u32("max_recv_sge"),
          u32("max_inline_data"));

  public static final CStruct QP_INIT_ATTR =
      CStruct.of(
          "struct ibv_qp_init_attr",
          pointer("qp_context"),
          pointer("send_cq"),
          pointer("recv_cq"),
          pointer("srq"),
          struct("cap", QP_CAP),
          u32("qp_type"),
          u32("sq_sig_all"));

  public static final CStruct QP_ATTR =
      CStruct.of(
          "struct ibv_qp_attr",
          u32("qp_state"),
          u32("cur_qp_state"),
          u32("path_mtu"),
          u32("path_mig_state"),
          u32("qkey"),
          u32("rq_psn"),
          u32("sq_psn"),
          u32("dest_qp_num"),
          u32("qp_access_flags"),
          struct("cap", QP_CAP),
          struct("ah_attr", AH_ATTR),
          struct("alt_ah_attr", AH_ATTR),
          u16("pkey_index"),
          u16("alt_pkey_index"),
          u8("en_sqd_async_notify"),
          u8("sq_draining"),
          u8("max_rd_atomic"),
          u8("max_dest_rd_atomic"),
          u8("min_rnr_timer"),
          u8("port_num"),
          u8("timeout"),
          u8("retry_cnt"),
          u8("rnr_retry"),
          u8("alt_port_num"),
          u8("alt_timeout"),
          u32("rate_limit"));

  static final CStruct QP =
      CStruct.of("struct ibv_qp", words("", 6), u32(""), u32("qp_num"), u32(""), u32("qp_type"))
          .ofSize(160);

  static final CStruct CQ =
      CStruct.of("struct ibv_cq", words("", 3), u32(""), u32("cqe")).ofSize(128);

  static final CStruct COMP_CHANNEL =
      CStruct.of("struct ibv_comp_channel", pointer("context"), u32("fd"), u32("refcnt"));

  static final CStruct ASYNC_EVENT =
      CStruct.of("struct ibv_async_event", u64("element"), u32("event_type"));

  static final CStruct SGE = CStruct.of("struct ibv_sge", u64("addr"), u32("length"), u32("lkey"));

  static final CStruct SEND_WR =
      CStruct.of(
              "struct ibv_send_wr",
              u64("wr_id"),
              pointer("next"),
              pointer("sg_list"),
              u32("num_sge"),
              u32("opcode"),
              u32("send_flags"),
              u32("imm_data"),
              u64("wr.atomic.remote_addr"),
              u64("wr.atomic.compare_add"),
              u64("wr.atomic.swap"),
              u32("wr.atomic.rkey"))
          .ofSize(128);

  /** The other views of {@code union wr} in {@link #SEND_WR}, each with what comes before it. */
  static final CStruct SEND_WR_RDMA =
      CStruct.of(
              "struct ibv_send_wr",
              bytes("", SEND_WR.offset("wr.atomic.remote_addr")),
              u64("wr.rdma.remote_addr"),
              u32("wr.rdma.rkey"))
          .ofSize(SEND_WR.size());

  static final CStruct SEND_WR_UD =
      CStruct.of(
              "struct ibv_send_wr",
              bytes("", SEND_WR.offset("wr.atomic.remote_addr")),
              pointer("wr.ud.ah"),
              u32("wr.ud.remote_qpn"),
              u32("wr.ud.remote_qkey"))
          .ofSize(SEND_WR.size());

  static final CStruct RECV_WR =
      CStruct.of(
          "struct ibv_recv_wr", u64("wr_id"), pointer("next"), pointer("sg_list"), u32("num_sge"));

  static final CStruct WC =
      CStruct.of(
          "struct ibv_wc",
          u64("wr_id"),
          u32("status"),
          u32("opcode"),
          u32("vendor_err"),
          u32("byte_len"),
          u32("imm_data"),
          u32("qp_num"),
          u32("src_qp"),
          u32("wc_flags"),
          u16("pkey_index"),
          u16("slid"),
          u8("sl"),
          u8("dlid_path_bits"));

  /**
   * The end of {@code struct verbs_context}, which holds the extended operations and lies right
   * before its {@code struct ibv_context}: it grows at its start, so offsets count from its end.
   */
  static final CStruct VERBS_CONTEXT =
      CStruct.of(
          "struct verbs_context",
          pointer("query_port"),
          pointer("advise_mr"),
          words("alloc_null_mr", 1),
          words("read_counters", 24),
          pointer("query_device_ex"),
          words("ibv_destroy_flow", 11),
          u64("sz"),
          struct("context", CONTEXT));

  private IbvStructs() {}

  /** A structure on the heap, which nobody has to free. */
  static MemorySegment copy(MemorySegment struct) {
    long words = (struct.byteSize() + Long.BYTES - 1) / Long.BYTES;
    MemorySegment copy = MemorySegment.ofArray(new long[(int) words]);
    return copy.copyFrom(struct);
  }
}
