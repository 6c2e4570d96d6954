package dev.sluice.rdma.verbs.ibv;

import static dev.sluice.rdma.verbs.ffi.CStruct.bytes;
import static dev.sluice.rdma.verbs.ffi.CStruct.struct;
import static dev.sluice.rdma.verbs.ffi.CStruct.u16;
import static dev.sluice.rdma.verbs.ffi.CStruct.u32;
import static dev.sluice.rdma.verbs.ffi.CStruct.u64;
import static dev.sluice.rdma.verbs.ffi.CStruct.u8;

import dev.sluice.rdma.verbs.ffi.CStruct;

/**
 * What a device and its ports say of themselves, member by member (ibv_query_device_ex(3),
 * ibv_query_port(3)). Compared with the installed header as {@link IbvStructs} is.
 */
final class IbvDeviceStructs {
  static final CStruct DEVICE_ATTR =
      CStruct.of(
          "struct ibv_device_attr",
          bytes("fw_ver", 64),
          u64("node_guid"),
          u64("sys_image_guid"),
          u64("max_mr_size"),
          u64("page_size_cap"),
          u32("vendor_id"),
          u32("vendor_part_id"),
          u32("hw_ver"),
          u32("max_qp"),
          u32("max_qp_wr"),
          u32("device_cap_flags"),
          u32("max_sge"),
          u32("max_sge_rd"),
          u32("max_cq"),
          u32("max_cqe"),
          u32("max_mr"),
          u32("max_pd"),
          u32("max_qp_rd_atom"),
          u32("max_ee_rd_atom"),
          u32("max_res_rd_atom"),
          u32("max_qp_init_rd_atom"),
          u32("max_ee_init_rd_atom"),
          u32("atomic_cap"),
          u32("max_ee"),
          u32("max_rdd"),
          u32("max_mw"),
          u32("max_raw_ipv6_qp"),
          u32("max_raw_ethy_qp"),
          u32("max_mcast_grp"),
          u32("max_mcast_qp_attach"),
          u32("max_total_mcast_qp_attach"),
          u32("max_ah"),
          u32("max_fmr"),
          u32("max_map_per_fmr"),
          u32("max_srq"),
          u32("max_srq_wr"),
          u32("max_srq_sge"),
          u16("max_pkeys"),
          u8("local_ca_ack_delay"),
          u8("phys_port_cnt"));

  static final CStruct ODP_CAPS =
      CStruct.of(
          "struct ibv_odp_caps",
          u64("general_caps"),
          u32("per_transport_caps.rc_odp_caps"),
          u32("per_transport_caps.uc_odp_caps"),
          u32("per_transport_caps.ud_odp_caps"));

  static final CStruct TSO_CAPS =
      CStruct.of("struct ibv_tso_caps", u32("max_tso"), u32("supported_qpts"));

  static final CStruct RSS_CAPS =
      CStruct.of(
          "struct ibv_rss_caps",
          u32("supported_qpts"),
          u32("max_rwq_indirection_tables"),
          u32("max_rwq_indirection_table_size"),
          u64("rx_hash_fields_mask"),
          u8("rx_hash_function"));

  static final CStruct PACKET_PACING_CAPS =
      CStruct.of(
          "struct ibv_packet_pacing_caps",
          u32("qp_rate_limit_min"),
          u32("qp_rate_limit_max"),
          u32("supported_qpts"));

  static final CStruct TM_CAPS =
      CStruct.of(
          "struct ibv_tm_caps",
          u32("max_rndv_hdr_size"),
          u32("max_num_tags"),
          u32("flags"),
          u32("max_ops"),
          u32("max_sge"));

  static final CStruct CQ_MODERATION_CAPS =
      CStruct.of("struct ibv_cq_moderation_caps", u16("max_cq_count"), u16("max_cq_period"));

  static final CStruct PCI_ATOMIC_CAPS =
      CStruct.of("struct ibv_pci_atomic_caps", u16("fetch_add"), u16("swap"), u16("compare_swap"));

  static final CStruct DEVICE_ATTR_EX =
      CStruct.of(
          "struct ibv_device_attr_ex",
          struct("orig_attr", DEVICE_ATTR),
          u32("comp_mask"),
          struct("odp_caps", ODP_CAPS),
          u64("completion_timestamp_mask"),
          u64("hca_core_clock"),
          u64("device_cap_flags_ex"),
          struct("tso_caps", TSO_CAPS),
          struct("rss_caps", RSS_CAPS),
          u32("max_wq_type_rq"),
          struct("packet_pacing_caps", PACKET_PACING_CAPS),
          u32("raw_packet_caps"),
          struct("tm_caps", TM_CAPS),
          struct("cq_mod_caps", CQ_MODERATION_CAPS),
          u64("max_dm_size"),
          struct("pci_atomic_caps", PCI_ATOMIC_CAPS),
          u32("xrc_odp_caps"),
          u32("phys_port_cnt_ex"));

  static final CStruct PORT_ATTR =
      CStruct.of(
          "struct ibv_port_attr",
          u32("state"),
          u32("max_mtu"),
          u32("active_mtu"),
          u32("gid_tbl_len"),
          u32("port_cap_flags"),
          u32("max_msg_sz"),
          u32("bad_pkey_cntr"),
          u32("qkey_viol_cntr"),
          u16("pkey_tbl_len"),
          u16("lid"),
          u16("sm_lid"),
          u8("lmc"),
          u8("max_vl_num"),
          u8("sm_sl"),
          u8("subnet_timeout"),
          u8("init_type_reply"),
          u8("active_width"),
          u8("active_speed"),
          u8("phys_state"),
          u8("link_layer"),
          u8("flags"),
          u16("port_cap_flags2"));

  private IbvDeviceStructs() {}
}
