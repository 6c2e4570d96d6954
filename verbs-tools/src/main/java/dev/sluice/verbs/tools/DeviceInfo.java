// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.ffi.CValue;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvDevice;
import dev.sluice.verbs.ibv.IbvDeviceAttr;
import dev.sluice.verbs.ibv.IbvQp;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Prints a device's attributes in the form of ibv_devinfo, for {@link InfoCommand}, which closes
 * the context. Tests compare the output with that program, so the texts are its own.
 */
final class DeviceInfo {
  private static final List<Flag> EXTENDED_CAPABILITIES =
      List.of(new Flag(1L << 34, "RAW_SCATTER_FCS"), new Flag(1L << 36, "PCI_WRITE_END_PADDING"));
  private static final List<Flag> QP_TYPES =
      List.of(
          new Flag(1L << IbvQp.Type.RAW_PACKET.value(), "SUPPORT_RAW_PACKET"),
          new Flag(1L << IbvQp.Type.UD.value(), "SUPPORT_UD"));
  private static final String FLAG = "\t\t\t\t\t";

  /** A bit of an attribute and its name. */
  private record Flag(long bit, String name) {
    /** Returns the names of bits, from the lowest bit on. */
    static List<Flag> of(String... names) {
      return IntStream.range(0, names.length).mapToObj(i -> new Flag(1L << i, names[i])).toList();
    }
  }

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
    CValue<IbvDevice.TransportType> transport = device.transportType();
    out.printf("hca_id:\t%s%n", device.name());
    out.printf("\ttransport:\t\t\t%s (%d)%n", transportText(transport), transport.number());
    out.printf("\tfw_ver:\t\t\t\t%s%n", attr.fwVer());
    out.printf("\tnode_guid:\t\t\t%s%n", guid("node_guid"));
    out.printf("\tsys_image_guid:\t\t\t%s%n", guid("sys_image_guid"));
    out.printf("\tvendor_id:\t\t\t0x%04x%n", attr.vendorId());
    out.printf("\tvendor_part_id:\t\t\t%d%n", attr.vendorPartId());
    out.printf("\thw_ver:\t\t\t\t0x%X%n", limit("hw_ver"));
    Path boardId = Path.of(device.sysfsPath(), "board_id");
    if (Files.isReadable(boardId)) {
      out.printf("\tboard_id:\t\t\t%s%n", Files.readString(boardId).strip());
    }
    out.printf("\tphys_port_cnt:\t\t\t%d%n", attr.physPortCnt());
  }

  private long limit(String name) {
    return attr.get("orig_attr." + name);
  }

  private void printLimits() {
    out.printf("\tmax_mr_size:\t\t\t0x%x%n", limit("max_mr_size"));
    out.printf("\tpage_size_cap:\t\t\t0x%x%n", limit("page_size_cap"));
    numbers("max_qp", "max_qp_wr");
    out.printf("\tdevice_cap_flags:\t\t0x%08x%n", limit("device_cap_flags"));
    printFlags(limit("device_cap_flags"), capabilities());
    numbers("max_sge", "max_sge_rd", "max_cq", "max_cqe", "max_mr", "max_pd");
    numbers("max_qp_rd_atom", "max_ee_rd_atom", "max_res_rd_atom");
    numbers("max_qp_init_rd_atom", "max_ee_init_rd_atom");
    out.printf(
        "\tatomic_cap:\t\t\t%s (%d)%n", atomicText(attr.atomicCap()), attr.atomicCap().number());
    numbers("max_ee", "max_rdd", "max_mw", "max_raw_ipv6_qp", "max_raw_ethy_qp");
    numbers("max_mcast_grp", "max_mcast_qp_attach", "max_total_mcast_qp_attach");
    numbers("max_ah", "max_fmr");
    if (limit("max_fmr") != 0) {
      numbers("max_map_per_fmr");
    }
    numbers("max_srq");
    if (limit("max_srq") != 0) {
      numbers("max_srq_wr", "max_srq_sge");
    }
    numbers("max_pkeys", "local_ca_ack_delay");
  }

  /** Returns the capabilities with the names of their constants, from the lowest bit on. */
  private static List<Flag> capabilities() {
    List<Flag> flags = new ArrayList<>();
    try {
      for (Field constant : IbvDeviceAttr.Caps.class.getFields()) {
        flags.add(new Flag(constant.getLong(null), constant.getName()));
      }
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
    flags.sort(Comparator.comparingLong(Flag::bit));
    return flags;
  }

  /** Prints a line for each known bit that is set. */
  private void printFlags(long value, List<Flag> known) {
    for (Flag flag : known) {
      if ((value & flag.bit()) != 0) {
        out.println(FLAG + flag.name());
      }
    }
  }

  /** Prints the known bits, and a line for all unknown bits. */
  private void printAllFlags(long value, List<Flag> known) {
    printFlags(value, known);
    long unknown = value & ~known.stream().mapToLong(Flag::bit).sum();
    if (unknown != 0) {
      out.printf(FLAG + "Unknown flags: 0x%X%n", unknown);
    }
  }

  private void numbers(String... names) {
    for (String name : names) {
      number(name, limit(name));
    }
  }

  /** Prints a number as a C int. */
  private void number(String name, long value) {
    out.printf("\t%s:\t\t\t%d%n", name, (int) value);
  }

  private void printOnDemandPaging() {
    out.println("\tgeneral_odp_caps:");
    printAllFlags(
        attr.get("odp_caps.general_caps"), Flag.of("ODP_SUPPORT", "ODP_SUPPORT_IMPLICIT"));
    for (String transport : List.of("rc", "uc", "ud")) {
      printOdp(transport, attr.get("odp_caps.per_transport_caps." + transport + "_odp_caps"));
    }
    printOdp("xrc", attr.get("xrc_odp_caps"));
  }

  private void printOdp(String transport, long caps) {
    out.printf("\t%s_odp_caps:%n", transport);
    if (caps == 0) {
      out.println("\t\t\t\t\tNO SUPPORT");
    }
    printAllFlags(
        caps,
        Flag.of(
            "SUPPORT_SEND",
            "SUPPORT_RECV",
            "SUPPORT_WRITE",
            "SUPPORT_READ",
            "SUPPORT_ATOMIC",
            "SUPPORT_SRQ"));
  }

  private void printClock() {
    long timestampMask = attr.get("completion_timestamp_mask");
    if (timestampMask == 0) {
      out.println("\tcompletion_timestamp_mask not supported");
    } else {
      out.printf("\tcompletion timestamp_mask:\t\t\t0x%016x%n", timestampMask);
    }
    long clockKhz = attr.get("hca_core_clock");
    if (clockKhz == 0) {
      out.println("\tcore clock not supported");
    } else {
      out.printf("\thca_core_clock:\t\t\t%dkHZ%n", clockKhz);
    }
  }

  private void printOffloads() {
    long rawPacketCaps = attr.get("raw_packet_caps");
    if (rawPacketCaps != 0) {
      out.println("\traw packet caps:");
      printFlags(
          rawPacketCaps,
          Flag.of(
              "C-VLAN stripping offload", "Scatter FCS offload",
              "IP csum offload", "Delay drop"));
    }
    long extended = attr.get("device_cap_flags_ex");
    out.printf("\tdevice_cap_flags_ex:\t\t0x%X%n", extended);
    printAllFlags(extended & ~limit("device_cap_flags"), EXTENDED_CAPABILITIES);
    out.printf("\ttso_caps:%n\t\tmax_tso:\t\t\t%d%n", attr.get("tso_caps.max_tso"));
    printQpTypes("tso_caps");
    printRss();
    out.printf("\tmax_wq_type_rq:\t\t\t%d%n", attr.get("max_wq_type_rq"));
    printPacing();
    printTagMatching();
    printModeration();
    long deviceMemory = attr.get("max_dm_size");
    if (deviceMemory != 0) {
      out.printf("\tmaximum available device memory:\t%dBytes%n", deviceMemory);
    }
  }

  private void printQpTypes(String caps) {
    long types = attr.get(caps + ".supported_qpts");
    if (types != 0) {
      out.println("\t\tsupported_qp:");
      printFlags(types, QP_TYPES);
    }
  }

  private void printRss() {
    out.println("\trss_caps:");
    rss("max_rwq_indirection_tables", "%d");
    rss("max_rwq_indirection_table_size", "%d");
    rss("rx_hash_function", "\t0x%x");
    rss("rx_hash_fields_mask", "\t0x%X");
    printQpTypes("rss_caps");
  }

  private void rss(String name, String format) {
    out.printf("\t\t%s:\t\t\t" + format + "%n", name, attr.get("rss_caps." + name));
  }

  private void printPacing() {
    out.println("\tpacket_pacing_caps:");
    for (String name : List.of("qp_rate_limit_min", "qp_rate_limit_max")) {
      out.printf("\t\t%s:\t%dkbps%n", name, attr.get("packet_pacing_caps." + name));
    }
    printQpTypes("packet_pacing_caps");
  }

  private void printTagMatching() {
    if (attr.get("tm_caps.max_num_tags") == 0) {
      out.println("\ttag matching not supported");
      return;
    }
    out.printf("\tmax_rndv_hdr_size:\t\t%d%n", attr.get("tm_caps.max_rndv_hdr_size"));
    for (String name : List.of("max_num_tags", "max_ops", "max_sge")) {
      number(name, attr.get("tm_caps." + name));
    }
    out.println("\tflags:");
    printFlags(attr.get("tm_caps.flags"), Flag.of("IBV_TM_CAP_RC"));
  }

  private void printModeration() {
    long count = attr.get("cq_mod_caps.max_cq_count");
    if (count != 0) {
      out.println("\tcq moderation caps:");
      out.printf("\t\tmax_cq_count:\t%d%n", count);
      out.printf("\t\tmax_cq_period:\t%d us%n", attr.get("cq_mod_caps.max_cq_period"));
    }
  }

  private String guid(String name) {
    return "%016x".formatted(Long.reverseBytes(limit(name))).replaceAll("(.{4})(?!$)", "$1:");
  }

  private static String transportText(CValue<IbvDevice.TransportType> transport) {
    return switch (transport.known().orElse(IbvDevice.TransportType.UNKNOWN)) {
      case IB -> "InfiniBand";
      case IWARP -> "iWARP";
      case USNIC -> "usNIC";
      case USNIC_UDP -> "usNIC UDP";
      case UNSPECIFIED -> "unspecified";
      case UNKNOWN -> "invalid transport";
    };
  }

  private static String atomicText(CValue<IbvDeviceAttr.AtomicCap> cap) {
    return cap.known().map(known -> "ATOMIC_" + known).orElse("invalid atomic capability");
  }
}
