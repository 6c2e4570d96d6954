package dev.sluice.rdma.verbs.cm;

import static dev.sluice.rdma.verbs.ffi.CStruct.bytes;
import static dev.sluice.rdma.verbs.ffi.CStruct.pointer;
import static dev.sluice.rdma.verbs.ffi.CStruct.struct;
import static dev.sluice.rdma.verbs.ffi.CStruct.u16;
import static dev.sluice.rdma.verbs.ffi.CStruct.u32;
import static dev.sluice.rdma.verbs.ffi.CStruct.u64;
import static dev.sluice.rdma.verbs.ffi.CStruct.u8;
import static dev.sluice.rdma.verbs.ffi.CStruct.words;

import dev.sluice.rdma.verbs.ffi.CStruct;
import dev.sluice.rdma.verbs.ibv.IbvStructs;

/**
 * The structures of {@code rdma/rdma_cma.h}, member by member. A test compiles a C program against
 * the installed header and compares sizes and offsets.
 */
final class RdmaCmStructs {
  static final CStruct SOCKADDR_IN =
      CStruct.of(
          "struct sockaddr_in",
          u16("sin_family"),
          u16("sin_port"),
          u32("sin_addr"),
          bytes("sin_zero", 8));

  static final CStruct SOCKADDR_IN6 =
      CStruct.of(
          "struct sockaddr_in6",
          u16("sin6_family"),
          u16("sin6_port"),
          u32("sin6_flowinfo"),
          bytes("sin6_addr", 16),
          u32("sin6_scope_id"));

  /** Large enough, and aligned, for an address of any family. */
  static final CStruct SOCKADDR_STORAGE =
      CStruct.of(
          "struct sockaddr_storage",
          u16("ss_family"),
          bytes("__ss_padding", 118),
          u64("__ss_align"));

  static final CStruct IB_ADDR =
      CStruct.of(
          "struct rdma_ib_addr",
          struct("sgid", IbvStructs.GID),
          struct("dgid", IbvStructs.GID),
          u16("pkey"));

  static final CStruct ADDR =
      CStruct.of(
          "struct rdma_addr",
          struct("src_storage", SOCKADDR_STORAGE),
          struct("dst_storage", SOCKADDR_STORAGE),
          struct("addr.ibaddr", IB_ADDR));

  static final CStruct ROUTE =
      CStruct.of("struct rdma_route", struct("addr", ADDR), pointer("path_rec"), u32("num_paths"));

  static final CStruct EVENT_CHANNEL = CStruct.of("struct rdma_event_channel", u32("fd"));

  static final CStruct CM_ID =
      CStruct.of(
              "struct rdma_cm_id",
              pointer("verbs"),
              words("", 2),
              pointer("qp"),
              struct("route", ROUTE),
              u32("ps"),
              u8("port_num"))
          .ofSize(416);

  static final CStruct CONN_PARAM =
      CStruct.of(
          "struct rdma_conn_param",
          pointer("private_data"),
          u8("private_data_len"),
          u8("responder_resources"),
          u8("initiator_depth"),
          u8("flow_control"),
          u8("retry_count"),
          u8("rnr_retry_count"),
          u8("srq"),
          u32("qp_num"));

  static final CStruct UD_PARAM =
      CStruct.of(
          "struct rdma_ud_param",
          pointer("private_data"),
          u8("private_data_len"),
          struct("ah_attr", IbvStructs.AH_ATTR),
          u32("qp_num"),
          u32("qkey"));

  static final CStruct CM_EVENT =
      CStruct.of(
          "struct rdma_cm_event",
          pointer("id"),
          pointer("listen_id"),
          u32("event"),
          u32("status"),
          struct("param.ud", UD_PARAM));

  /** The other view of {@code union param} in {@link #CM_EVENT}, with what comes before it. */
  static final CStruct CM_EVENT_CONN =
      CStruct.of(
              "struct rdma_cm_event",
              bytes("", CM_EVENT.offset("param.ud")),
              struct("param.conn", CONN_PARAM))
          .ofSize(CM_EVENT.size());

  private RdmaCmStructs() {}
}
