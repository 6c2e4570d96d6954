// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CCompiler;
import dev.sluice.verbs.ffi.CHeader;
import dev.sluice.verbs.ffi.CHeaders;
import dev.sluice.verbs.ffi.CPrototypes;
import dev.sluice.verbs.ffi.CStruct;
import dev.sluice.verbs.ffi.ConstantTypes;
import dev.sluice.verbs.ffi.NativeFunction;
import dev.sluice.verbs.ffi.NeedsCHeader;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The binding's structures, constants and functions equal those of the C headers: the installed
 * headers and those of other releases. A second run compares them for another architecture.
 */
class CHeadersTest {
  private static final String VERBS = "infiniband/verbs.h";
  private static final String RELEASES = "dev.sluice.verbs.ffi.CHeaders#all";

  /** Prefixes of the constants' C names. */
  private static final Map<Class<?>, String> PREFIXES =
      Map.ofEntries(
          entry(IbvMr.Access.class, "IBV_ACCESS_"),
          entry(IbvDeviceAttr.AtomicCap.class, "IBV_ATOMIC_"),
          entry(IbvDeviceAttr.Caps.class, "IBV_DEVICE_"),
          entry(IbvAsyncEvent.Type.class, "IBV_EVENT_"),
          entry(IbvFork.Status.class, "IBV_FORK_"),
          entry(IbvGidEntry.Type.class, "IBV_GID_TYPE_"),
          entry(IbvPortAttr.LinkLayer.class, "IBV_LINK_LAYER_"),
          entry(IbvPortAttr.Mtu.class, "IBV_"),
          entry(IbvDeviceAttr.OdpCaps.class, "IBV_ODP_"),
          entry(IbvDeviceAttr.OdpTransportCaps.class, "IBV_ODP_"),
          entry(IbvPortAttr.Flags.class, "IBV_QPF_"),
          entry(IbvPortAttr.State.class, "IBV_PORT_"),
          entry(IbvQpAttr.Mask.class, "IBV_QP_"),
          entry(IbvQp.State.class, "IBV_QPS_"),
          entry(IbvQp.Type.class, "IBV_QPT_"),
          entry(IbvSendWrList.Flags.class, "IBV_SEND_"),
          entry(IbvSrq.AttrMask.class, "IBV_SRQ_"),
          entry(IbvDevice.TransportType.class, "IBV_TRANSPORT_"),
          entry(IbvWcArray.Flags.class, "IBV_WC_"),
          entry(IbvWcArray.Opcode.class, "IBV_WC_"),
          entry(IbvWcArray.Status.class, "IBV_WC_"),
          entry(IbvSendWrList.Opcode.class, "IBV_WR_"),
          entry(IbvMr.Advice.class, "IBV_ADVISE_MR_ADVICE_"),
          entry(IbvMr.AdviseFlags.class, "IBV_ADVISE_MR_FLAG_"),
          entry(IbvMr.Rereg.class, "IBV_REREG_MR_"),
          entry(IbvMrInitAttr.Mask.class, "IBV_REG_MR_MASK_"),
          entry(IbvDmah.InitAttr.Mask.class, "IBV_DMAH_INIT_ATTR_MASK_"),
          entry(IbvDmah.TphMemType.class, "IBV_TPH_MEM_TYPE_"),
          entry(IbvMw.Type.class, "IBV_MW_"),
          entry(IbvQp.MigState.class, "IBV_MIG_"),
          entry(IbvDevice.NodeType.class, "IBV_NODE_"),
          entry(IbvPortAttr.Caps.class, "IBV_PORT_"),
          entry(IbvPortAttr.Caps2.class, "IBV_PORT_"),
          entry(IbvAhAttr.Rate.class, "IBV_"),
          entry(IbvQpEx.SendOps.class, "IBV_QP_EX_WITH_"),
          entry(IbvQpEx.PlacementType.class, "IBV_FLUSH_"),
          entry(IbvQpEx.SelectivityLevel.class, "IBV_FLUSH_"),
          entry(IbvQpInitAttrEx.Mask.class, "IBV_QP_INIT_ATTR_"),
          entry(IbvQpInitAttrEx.CreateFlags.class, "IBV_QP_CREATE_"),
          entry(IbvSrqInitAttrEx.Mask.class, "IBV_SRQ_INIT_ATTR_"),
          entry(IbvSrq.Type.class, "IBV_SRQT_"),
          entry(IbvCqEx.WcFlags.class, "IBV_WC_EX_WITH_"),
          entry(IbvCqInitAttrEx.Flags.class, "IBV_CREATE_CQ_ATTR_"));

  /** Structures, constants and functions that older releases lack; compared where they exist. */
  private static final Set<String> NEWER =
      Set.of(
          "IBV_ACCESS_FLUSH_GLOBAL",
          "IBV_ACCESS_FLUSH_PERSISTENT",
          "IBV_FLUSH_GLOBAL",
          "IBV_FLUSH_MR",
          "IBV_FLUSH_PERSISTENT",
          "IBV_FLUSH_RANGE",
          "IBV_DMAH_INIT_ATTR_MASK_CPU_ID",
          "IBV_DMAH_INIT_ATTR_MASK_PH",
          "IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE",
          "IBV_PORT_LINK_SPEED_XDR_SUP",
          "IBV_REG_MR_MASK_ADDR",
          "IBV_REG_MR_MASK_BUF",
          "IBV_REG_MR_MASK_DMAH",
          "IBV_REG_MR_MASK_FD",
          "IBV_REG_MR_MASK_FD_OFFSET",
          "IBV_REG_MR_MASK_IOVA",
          "IBV_TPH_MEM_TYPE_PM",
          "IBV_TPH_MEM_TYPE_VM",
          "IBV_WC_FLUSH",
          "IBV_WR_FLUSH",
          "ibv_alloc_buf",
          "ibv_alloc_dmah",
          "ibv_dealloc_dmah",
          "ibv_export_buf_dmabuf_fd",
          "ibv_free_buf",
          "ibv_query_port_speed",
          "ibv_reg_buf_mr",
          "ibv_reg_mr_ex",
          "ibv_wr_opcode_str",
          "struct ibv_dmah_init_attr",
          "struct ibv_mr_init_attr",
          "offsetof(struct ibv_mr_init_attr, buf)",
          "sizeof(((struct ibv_mr_init_attr *)0)->buf)");

  /** Members of VERBS_CONTEXT that stand for several pointers, which Java omits. */
  private static final Set<String> SEVERAL_POINTERS = Set.of("read_counters", "ibv_destroy_flow");

  /** Structures that newer releases extend at the end; functions take the size that Java knows. */
  private static final Set<CStruct> GROWING =
      Set.of(IbvStructs.DEVICE_ATTR_EX, IbvStructs.PORT_ATTR, IbvStructs.QP_EX, IbvStructs.CQ_EX);

  @ParameterizedTest
  @MethodSource(RELEASES)
  @NeedsCHeader(VERBS)
  @Tag("c-layout")
  void structuresAreLaidOutAsInC(CHeaders headers, @TempDir Path directory) throws Exception {
    CHeader header = new CHeader(VERBS).newer(NEWER);
    assertThat(IbvStructs.HEADER).hasSizeGreaterThan(45);
    for (CStruct type : IbvStructs.HEADER.values()) {
      if (type == IbvStructs.VERBS_CONTEXT) {
        expectEndOfVerbsContext(header, type);
      } else if (GROWING.contains(type)) {
        header.structThatGrows(type);
      } else {
        header.struct(type);
      }
    }
    header.assertAgrees(new CCompiler(directory), headers);
  }

  private static void expectEndOfVerbsContext(CHeader header, CStruct type) {
    for (String member : type.members()) {
      header.offsetFromEnd(type, member);
      if (!SEVERAL_POINTERS.contains(member)) {
        header.memberSize(type, member);
      }
    }
  }

  @ParameterizedTest
  @MethodSource(RELEASES)
  @NeedsCHeader(VERBS)
  @Tag("c-layout")
  void constantsHaveTheirValuesInC(CHeaders headers, @TempDir Path directory) throws Exception {
    CHeader header = new CHeader(VERBS).newer(NEWER);
    for (Map.Entry<Class<?>, String> type : PREFIXES.entrySet()) {
      header.constants(type.getKey(), type.getValue());
    }
    header.assertAgrees(new CCompiler(directory), headers);
  }

  @Test
  void headersOfOtherReleasesAreThere() throws Exception {
    Assumptions.assumeFalse(
        CHeaders.others().isEmpty(),
        () -> "compared with the installed headers alone: .ci/check-headers downloads others");
  }

  @Test
  @NeedsCHeader("errno.h")
  void errorNumbersHaveTheirValuesInC(@TempDir Path directory) throws Exception {
    new CHeader("errno.h")
        .constants(VerbsException.class, "")
        .assertAgrees(new CCompiler(directory));
  }

  @Test
  void everyEnumAndClassOfFlagsIsCompared() throws Exception {
    assertThat(PREFIXES.keySet())
        .containsExactlyInAnyOrderElementsOf(ConstantTypes.inPackageOf(IbvStructs.class));
  }

  @ParameterizedTest
  @MethodSource(RELEASES)
  @NeedsCHeader(VERBS)
  void functionsHaveTheirParametersInC(CHeaders headers) throws Exception {
    CPrototypes prototypes = new CPrototypes(headers, VERBS);
    for (NativeFunction function : functions()) {
      prototypes.assertDeclares(function, NEWER);
    }
  }

  @Test
  void functionsAreExportedByTheLibrary() {
    try {
      LibIbverbs.Library.IBVERBS.require();
    } catch (ProviderUnavailableException e) {
      Assumptions.abort(e.getMessage());
    }
    for (NativeFunction function : functions()) {
      CPrototypes.assertExported(LibIbverbs.Library.IBVERBS, function, NEWER);
    }
  }

  private static List<NativeFunction> functions() {
    return Stream.of(LibIbverbs.values()).map(constant -> constant.function).toList();
  }
}
