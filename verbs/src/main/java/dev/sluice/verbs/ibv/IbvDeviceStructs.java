// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.ffi.CStruct;

/**
 * Structures of device and port attributes, member by member (ibv_query_device_ex(3),
 * ibv_query_port(3)). A test compares them with the installed header, as for {@link IbvStructs}.
 * Members that newer releases append come last: C fills in as many as the given size covers.
 */
final class IbvDeviceStructs {
  static final CStruct DEVICE_ATTR =
      CStruct.of(
          "struct ibv_device_attr",
          """
          byte fw_ver[64]; long node_guid, sys_image_guid, max_mr_size, page_size_cap;
          int vendor_id, vendor_part_id, hw_ver, max_qp, max_qp_wr, device_cap_flags, max_sge,
              max_sge_rd, max_cq, max_cqe, max_mr, max_pd, max_qp_rd_atom, max_ee_rd_atom,
              max_res_rd_atom, max_qp_init_rd_atom, max_ee_init_rd_atom, atomic_cap, max_ee,
              max_rdd, max_mw, max_raw_ipv6_qp, max_raw_ethy_qp, max_mcast_grp,
              max_mcast_qp_attach, max_total_mcast_qp_attach, max_ah, max_fmr, max_map_per_fmr,
              max_srq, max_srq_wr, max_srq_sge; short max_pkeys;
          byte local_ca_ack_delay, phys_port_cnt;
          """);

  static final CStruct ODP_CAPS =
      CStruct.of(
          "struct ibv_odp_caps",
          """
          long general_caps; int per_transport_caps.rc_odp_caps, per_transport_caps.uc_odp_caps,
              per_transport_caps.ud_odp_caps;
          """);

  static final CStruct TSO_CAPS = CStruct.of("struct ibv_tso_caps", "int max_tso, supported_qpts");

  static final CStruct RSS_CAPS =
      CStruct.of(
          "struct ibv_rss_caps",
          """
          int supported_qpts, max_rwq_indirection_tables, max_rwq_indirection_table_size;
          long rx_hash_fields_mask; byte rx_hash_function;
          """);

  static final CStruct PACKET_PACING_CAPS =
      CStruct.of(
          "struct ibv_packet_pacing_caps",
          "int qp_rate_limit_min, qp_rate_limit_max, supported_qpts");

  static final CStruct TM_CAPS =
      CStruct.of(
          "struct ibv_tm_caps", "int max_rndv_hdr_size, max_num_tags, flags, max_ops, max_sge");

  static final CStruct CQ_MODERATION_CAPS =
      CStruct.of("struct ibv_cq_moderation_caps", "short max_cq_count, max_cq_period");

  static final CStruct PCI_ATOMIC_CAPS =
      CStruct.of("struct ibv_pci_atomic_caps", "short fetch_add, swap, compare_swap");

  static final CStruct DEVICE_ATTR_EX =
      CStruct.of(
          "struct ibv_device_attr_ex",
          """
          struct ibv_device_attr orig_attr; int comp_mask; struct ibv_odp_caps odp_caps;
          long completion_timestamp_mask, hca_core_clock, device_cap_flags_ex;
          struct ibv_tso_caps tso_caps; struct ibv_rss_caps rss_caps; int max_wq_type_rq;
          struct ibv_packet_pacing_caps packet_pacing_caps; int raw_packet_caps;
          struct ibv_tm_caps tm_caps; struct ibv_cq_moderation_caps cq_mod_caps; long max_dm_size;
          struct ibv_pci_atomic_caps pci_atomic_caps; int xrc_odp_caps, phys_port_cnt_ex;
          """,
          DEVICE_ATTR,
          ODP_CAPS,
          TSO_CAPS,
          RSS_CAPS,
          PACKET_PACING_CAPS,
          TM_CAPS,
          CQ_MODERATION_CAPS,
          PCI_ATOMIC_CAPS);

  static final CStruct PORT_ATTR =
      CStruct.of(
          "struct ibv_port_attr",
          """
          int state, max_mtu, active_mtu, gid_tbl_len, port_cap_flags, max_msg_sz, bad_pkey_cntr,
              qkey_viol_cntr; short pkey_tbl_len, lid, sm_lid;
          byte lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply, active_width,
              active_speed, phys_state, link_layer, flags; short port_cap_flags2;
          """);

  private IbvDeviceStructs() {}
}
