package dev.sluice.rdma.tools;

import dev.sluice.rdma.verbs.ffi.CValue;
import dev.sluice.rdma.verbs.ibv.IbvAtomicCap;
import dev.sluice.rdma.verbs.ibv.IbvContext;
import dev.sluice.rdma.verbs.ibv.IbvDevice;
import dev.sluice.rdma.verbs.ibv.IbvDeviceAttr;
import dev.sluice.rdma.verbs.ibv.IbvDeviceCaps;
import dev.sluice.rdma.verbs.ibv.IbvOdpCaps;
import dev.sluice.rdma.verbs.ibv.IbvOdpTransportCaps;
import dev.sluice.rdma.verbs.ibv.IbvQpType;
import dev.sluice.rdma.verbs.ibv.IbvTransportType;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;

/** A device's attributes in the form of ibv_devinfo. */
final class DeviceInfo {
  private static final Flags CAPABILITIES =
      new Flags()
          .with(IbvDeviceCaps.RESIZE_MAX_WR, "RESIZE_MAX_WR")
          .with(IbvDeviceCaps.BAD_PKEY_CNTR, "BAD_PKEY_CNTR")
          .with(IbvDeviceCaps.BAD_QKEY_CNTR, "BAD_QKEY_CNTR")
          .with(IbvDeviceCaps.RAW_MULTI, "RAW_MULTI")
          .with(IbvDeviceCaps.AUTO_PATH_MIG, "AUTO_PATH_MIG")
          .with(IbvDeviceCaps.CHANGE_PHY_PORT, "CHANGE_PHY_PORT")
          .with(IbvDeviceCaps.UD_AV_PORT_ENFORCE, "UD_AV_PORT_ENFORCE")
          .with(IbvDeviceCaps.CURR_QP_STATE_MOD, "CURR_QP_STATE_MOD")
          .with(IbvDeviceCaps.SHUTDOWN_PORT, "SHUTDOWN_PORT")
          .with(IbvDeviceCaps.INIT_TYPE, "INIT_TYPE")
          .with(IbvDeviceCaps.PORT_ACTIVE_EVENT, "PORT_ACTIVE_EVENT")
          .with(IbvDeviceCaps.SYS_IMAGE_GUID, "SYS_IMAGE_GUID")
          .with(IbvDeviceCaps.RC_RNR_NAK_GEN, "RC_RNR_NAK_GEN")
          .with(IbvDeviceCaps.SRQ_RESIZE, "SRQ_RESIZE")
          .with(IbvDeviceCaps.N_NOTIFY_CQ, "N_NOTIFY_CQ")
          .with(IbvDeviceCaps.MEM_WINDOW, "MEM_WINDOW")
          .with(IbvDeviceCaps.UD_IP_CSUM, "UD_IP_CSUM")
          .with(IbvDeviceCaps.XRC, "XRC")
          .with(IbvDeviceCaps.MEM_MGT_EXTENSIONS, "MEM_MGT_EXTENSIONS")
          .with(IbvDeviceCaps.MEM_WINDOW_TYPE_2A, "MEM_WINDOW_TYPE_2A")
          .with(IbvDeviceCaps.MEM_WINDOW_TYPE_2B, "MEM_WINDOW_TYPE_2B")
          .with(IbvDeviceCaps.RC_IP_CSUM, "RC_IP_CSUM")
          .with(IbvDeviceCaps.RAW_IP_CSUM, "RAW_IP_CSUM")
          .with(IbvDeviceCaps.MANAGED_FLOW_STEERING, "MANAGED_FLOW_STEERING");

  private static final Flags EXTENDED_CAPABILITIES =
      new Flags().with(1L << 34, "RAW_SCATTER_FCS").with(1L << 36, "PCI_WRITE_END_PADDING");

  private static final Flags ODP =
      new Flags()
          .with(IbvOdpCaps.SUPPORT, "ODP_SUPPORT")
          .with(IbvOdpCaps.SUPPORT_IMPLICIT, "ODP_SUPPORT_IMPLICIT");

  private static final Flags ODP_OPERATIONS =
      new Flags()
          .with(IbvOdpTransportCaps.SUPPORT_SEND, "SUPPORT_SEND")
          .with(IbvOdpTransportCaps.SUPPORT_RECV, "SUPPORT_RECV")
          .with(IbvOdpTransportCaps.SUPPORT_WRITE, "SUPPORT_WRITE")
          .with(IbvOdpTransportCaps.SUPPORT_READ, "SUPPORT_READ")
          .with(IbvOdpTransportCaps.SUPPORT_ATOMIC, "SUPPORT_ATOMIC")
          .with(IbvOdpTransportCaps.SUPPORT_SRQ_RECV, "SUPPORT_SRQ");

  private static final Flags RAW_PACKET =
      new Flags()
          .with(1, "C-VLAN stripping offload")
          .with(1 << 1, "Scatter FCS offload")
          .with(1 << 2, "IP csum offload")
          .with(1 << 3, "Delay drop");

  private static final Flags QP_TYPES =
      new Flags()
          .with(1L << IbvQpType.RAW_PACKET.value(), "SUPPORT_RAW_PACKET")
          .with(1L << IbvQpType.UD.value(), "SUPPORT_UD");

  private static final Flags TAG_MATCHING = new Flags().with(1, "IBV_TM_CAP_RC");

  private final IbvContext context;
  private final IbvDeviceAttr attr;
  private final PrintWriter out;

  DeviceInfo(IbvContext context, PrintWriter out) throws IOException {
    this.context = context;
    this.out = out;
    attr = context.queryDevice();
  }

  void print(boolean verbose) throws IOException {
    printIdentity();
    if (verbose) {
      printLimits();
      printOnDemandPaging();
      printClock();
      printOffloads();
      out.printf("\tnum_comp_vectors:\t\t%d%n", context.completionVectors());
    }
  }

  private void printIdentity() throws IOException {
    IbvDevice device = context.device();
    CValue<IbvTransportType> transport = device.transportType();
    out.printf("hca_id:\t%s%n", device.name());
    out.printf("\ttransport:\t\t\t%s (%d)%n", transportText(transport), transport.number());
    out.printf("\tfw_ver:\t\t\t\t%s%n", attr.fwVer());
    out.printf("\tnode_guid:\t\t\t%s%n", guid(attr.nodeGuid()));
    out.printf("\tsys_image_guid:\t\t\t%s%n", guid(attr.sysImageGuid()));
    out.printf("\tvendor_id:\t\t\t0x%04x%n", attr.vendorId());
    out.printf("\tvendor_part_id:\t\t\t%d%n", attr.vendorPartId());
    out.printf("\thw_ver:\t\t\t\t0x%X%n", attr.hwVer());
    Path boardId = Path.of(device.sysfsPath(), "board_id");
    if (Files.isReadable(boardId)) {
      out.printf("\tboard_id:\t\t\t%s%n", Files.readString(boardId).strip());
    }
    out.printf("\tphys_port_cnt:\t\t\t%d%n", attr.physPortCnt());
  }

  private void printLimits() {
    out.printf("\tmax_mr_size:\t\t\t0x%x%n", attr.maxMrSize());
    out.printf("\tpage_size_cap:\t\t\t0x%x%n", attr.pageSizeCap());
    number("max_qp", attr.maxQp());
    number("max_qp_wr", attr.maxQpWr());
    out.printf("\tdevice_cap_flags:\t\t0x%08x%n", attr.deviceCapFlags());
    CAPABILITIES.print(out, attr.deviceCapFlags());
    number("max_sge", attr.maxSge());
    number("max_sge_rd", attr.maxSgeRd());
    number("max_cq", attr.maxCq());
    number("max_cqe", attr.maxCqe());
    number("max_mr", attr.maxMr());
    number("max_pd", attr.maxPd());
    number("max_qp_rd_atom", attr.maxQpRdAtom());
    number("max_ee_rd_atom", attr.maxEeRdAtom());
    number("max_res_rd_atom", attr.maxResRdAtom());
    number("max_qp_init_rd_atom", attr.maxQpInitRdAtom());
    number("max_ee_init_rd_atom", attr.maxEeInitRdAtom());
    out.printf(
        "\tatomic_cap:\t\t\t%s (%d)%n", atomicText(attr.atomicCap()), attr.atomicCap().number());
    number("max_ee", attr.maxEe());
    number("max_rdd", attr.maxRdd());
    number("max_mw", attr.maxMw());
    number("max_raw_ipv6_qp", attr.maxRawIpv6Qp());
    number("max_raw_ethy_qp", attr.maxRawEthyQp());
    number("max_mcast_grp", attr.maxMcastGrp());
    number("max_mcast_qp_attach", attr.maxMcastQpAttach());
    number("max_total_mcast_qp_attach", attr.maxTotalMcastQpAttach());
    number("max_ah", attr.maxAh());
    number("max_fmr", attr.maxFmr());
    if (attr.maxFmr() != 0) {
      number("max_map_per_fmr", attr.maxMapPerFmr());
    }
    number("max_srq", attr.maxSrq());
    if (attr.maxSrq() != 0) {
      number("max_srq_wr", attr.maxSrqWr());
      number("max_srq_sge", attr.maxSrqSge());
    }
    number("max_pkeys", attr.maxPkeys());
    number("local_ca_ack_delay", attr.localCaAckDelay());
  }

  private void number(String name, int value) {
    out.printf("\t%s:\t\t\t%d%n", name, value);
  }

  private void printOnDemandPaging() {
    out.println("\tgeneral_odp_caps:");
    ODP.printAll(out, attr.odpGeneralCaps());
    printOdp("rc", attr.odpTransportCaps(IbvQpType.RC));
    printOdp("uc", attr.odpTransportCaps(IbvQpType.UC));
    printOdp("ud", attr.odpTransportCaps(IbvQpType.UD));
    printOdp("xrc", attr.xrcOdpCaps());
  }

  private void printOdp(String transport, int caps) {
    out.printf("\t%s_odp_caps:%n", transport);
    if (caps == 0) {
      out.println("\t\t\t\t\tNO SUPPORT");
    }
    ODP_OPERATIONS.printAll(out, Integer.toUnsignedLong(caps));
  }

  private void printClock() {
    if (attr.completionTimestampMask() == 0) {
      out.println("\tcompletion_timestamp_mask not supported");
    } else {
      out.printf("\tcompletion timestamp_mask:\t\t\t0x%016x%n", attr.completionTimestampMask());
    }
    if (attr.hcaCoreClock() == 0) {
      out.println("\tcore clock not supported");
    } else {
      out.printf("\thca_core_clock:\t\t\t%dkHZ%n", attr.hcaCoreClock());
    }
  }

  private void printOffloads() {
    if (attr.rawPacketCaps() != 0) {
      out.println("\traw packet caps:");
      RAW_PACKET.print(out, attr.rawPacketCaps());
    }
    out.printf("\tdevice_cap_flags_ex:\t\t0x%X%n", attr.deviceCapFlagsEx());
    EXTENDED_CAPABILITIES.printAll(
        out, attr.deviceCapFlagsEx() & ~Integer.toUnsignedLong(attr.deviceCapFlags()));
    IbvDeviceAttr.TsoCaps tso = attr.tsoCaps();
    out.printf("\ttso_caps:%n\t\tmax_tso:\t\t\t%d%n", tso.maxTso());
    printQpTypes(tso.supportedQpts());
    printRss(attr.rssCaps());
    out.printf("\tmax_wq_type_rq:\t\t\t%d%n", attr.maxWqTypeRq());
    IbvDeviceAttr.PacketPacingCaps pacing = attr.packetPacingCaps();
    out.println("\tpacket_pacing_caps:");
    out.printf("\t\tqp_rate_limit_min:\t%dkbps%n", pacing.qpRateLimitMin());
    out.printf("\t\tqp_rate_limit_max:\t%dkbps%n", pacing.qpRateLimitMax());
    printQpTypes(pacing.supportedQpts());
    printTagMatching(attr.tmCaps());
    IbvDeviceAttr.CqModerationCaps moderation = attr.cqModCaps();
    if (moderation.maxCqCount() != 0) {
      out.println("\tcq moderation caps:");
      out.printf("\t\tmax_cq_count:\t%d%n", moderation.maxCqCount());
      out.printf("\t\tmax_cq_period:\t%d us%n", moderation.maxCqPeriod());
    }
    if (attr.maxDmSize() != 0) {
      out.printf("\tmaximum available device memory:\t%dBytes%n", attr.maxDmSize());
    }
  }

  private void printQpTypes(int types) {
    if (types != 0) {
      out.println("\t\tsupported_qp:");
      QP_TYPES.print(out, types);
    }
  }

  private void printRss(IbvDeviceAttr.RssCaps rss) {
    out.println("\trss_caps:");
    out.printf("\t\tmax_rwq_indirection_tables:\t\t\t%d%n", rss.maxRwqIndirectionTables());
    out.printf("\t\tmax_rwq_indirection_table_size:\t\t\t%d%n", rss.maxRwqIndirectionTableSize());
    out.printf("\t\trx_hash_function:\t\t\t\t0x%x%n", rss.rxHashFunction());
    out.printf("\t\trx_hash_fields_mask:\t\t\t\t0x%X%n", rss.rxHashFieldsMask());
    printQpTypes(rss.supportedQpts());
  }

  private void printTagMatching(IbvDeviceAttr.TmCaps tm) {
    if (tm.maxNumTags() == 0) {
      out.println("\ttag matching not supported");
      return;
    }
    out.printf("\tmax_rndv_hdr_size:\t\t%d%n", tm.maxRndvHdrSize());
    number("max_num_tags", tm.maxNumTags());
    number("max_ops", tm.maxOps());
    number("max_sge", tm.maxSge());
    out.println("\tflags:");
    TAG_MATCHING.print(out, tm.flags());
  }

  private static String guid(long guid) {
    return "%04x:%04x:%04x:%04x"
        .formatted(guid >>> 48, guid >>> 32 & 0xffff, guid >>> 16 & 0xffff, guid & 0xffff);
  }

  private static String transportText(CValue<IbvTransportType> transport) {
    return switch (transport.known().orElse(IbvTransportType.UNKNOWN)) {
      case IB -> "InfiniBand";
      case IWARP -> "iWARP";
      case USNIC -> "usNIC";
      case USNIC_UDP -> "usNIC UDP";
      case UNSPECIFIED -> "unspecified";
      case UNKNOWN -> "invalid transport";
    };
  }

  private static String atomicText(CValue<IbvAtomicCap> cap) {
    return cap.known().map(known -> "ATOMIC_" + known).orElse("invalid atomic capability");
  }
}
