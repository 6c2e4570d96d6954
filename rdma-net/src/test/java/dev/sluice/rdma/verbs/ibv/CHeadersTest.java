package dev.sluice.rdma.verbs.ibv;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.CCompiler;
import dev.sluice.rdma.verbs.ffi.CHeader;
import dev.sluice.rdma.verbs.ffi.CPrototypes;
import dev.sluice.rdma.verbs.ffi.CStruct;
import dev.sluice.rdma.verbs.ffi.ConstantTypes;
import dev.sluice.rdma.verbs.ffi.NativeFunction;
import dev.sluice.rdma.verbs.ffi.NeedsCHeader;
import dev.sluice.rdma.verbs.ffi.StaticFields;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The binding's structures, constants and functions are those of the installed C headers. */
class CHeadersTest {
  private static final String VERBS = "infiniband/verbs.h";

  /** What comes before a constant's name in C. */
  private static final Map<Class<?>, String> PREFIXES =
      Map.ofEntries(
          entry(IbvAccess.class, "IBV_ACCESS_"),
          entry(IbvAtomicCap.class, "IBV_ATOMIC_"),
          entry(IbvDeviceCaps.class, "IBV_DEVICE_"),
          entry(IbvEventType.class, "IBV_EVENT_"),
          entry(IbvForkStatus.class, "IBV_FORK_"),
          entry(IbvGidType.class, "IBV_GID_TYPE_"),
          entry(IbvLinkLayer.class, "IBV_LINK_LAYER_"),
          entry(IbvMtu.class, "IBV_"),
          entry(IbvOdpCaps.class, "IBV_ODP_"),
          entry(IbvOdpTransportCaps.class, "IBV_ODP_"),
          entry(IbvPortFlags.class, "IBV_QPF_"),
          entry(IbvPortState.class, "IBV_PORT_"),
          entry(IbvQpAttrMask.class, "IBV_QP_"),
          entry(IbvQpState.class, "IBV_QPS_"),
          entry(IbvQpType.class, "IBV_QPT_"),
          entry(IbvSendFlags.class, "IBV_SEND_"),
          entry(IbvSrqAttrMask.class, "IBV_SRQ_"),
          entry(IbvTransportType.class, "IBV_TRANSPORT_"),
          entry(IbvWcFlags.class, "IBV_WC_"),
          entry(IbvWcOpcode.class, "IBV_WC_"),
          entry(IbvWcStatus.class, "IBV_WC_"),
          entry(IbvWrOpcode.class, "IBV_WR_"));

  /** Members of VERBS_CONTEXT that stand for several pointers, which Java leaves out. */
  private static final Set<String> SEVERAL_POINTERS = Set.of("read_counters", "ibv_destroy_flow");

  @Test
  @NeedsCHeader(VERBS)
  void structuresAreLaidOutAsInC(@TempDir Path directory) throws Exception {
    CHeader header = new CHeader(VERBS);
    List<CStruct> structs = new ArrayList<>(StaticFields.of(IbvStructs.class, CStruct.class));
    structs.addAll(StaticFields.of(IbvDeviceStructs.class, CStruct.class));
    assertThat(structs).hasSizeGreaterThan(30);
    for (CStruct type : structs) {
      if (type == IbvStructs.VERBS_CONTEXT) {
        expectEndOfVerbsContext(header, type);
      } else if (type == IbvDeviceStructs.DEVICE_ATTR_EX) {
        header.structThatGrows(type);
      } else {
        header.struct(type);
      }
    }
    header.assertAgrees(new CCompiler(directory));
  }

  private static void expectEndOfVerbsContext(CHeader header, CStruct type) {
    for (String member : type.members()) {
      header.offsetFromEnd(type, member);
      if (!SEVERAL_POINTERS.contains(member)) {
        header.memberSize(type, member);
      }
    }
  }

  @Test
  @NeedsCHeader(VERBS)
  void constantsHaveTheirValuesInC(@TempDir Path directory) throws Exception {
    CHeader header = new CHeader(VERBS);
    for (Map.Entry<Class<?>, String> type : PREFIXES.entrySet()) {
      header.constants(type.getKey(), type.getValue());
    }
    header.assertAgrees(new CCompiler(directory));
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

  @Test
  @NeedsCHeader(VERBS)
  void functionsHaveTheirParametersInC() throws Exception {
    CPrototypes prototypes = new CPrototypes(VERBS);
    for (NativeFunction function : functions()) {
      prototypes.assertDeclares(function);
    }
  }

  @Test
  void functionsAreExportedByTheLibrary() throws IllegalAccessException {
    try {
      LibIbverbs.LIBRARY.require();
    } catch (ProviderUnavailableException e) {
      Assumptions.abort(e.getMessage());
    }
    for (NativeFunction function : functions()) {
      CPrototypes.assertExported(LibIbverbs.LIBRARY, function);
    }
  }

  private static List<NativeFunction> functions() throws IllegalAccessException {
    List<NativeFunction> functions = StaticFields.of(LibIbverbs.class, NativeFunction.class);
    assertThat(functions).hasSizeGreaterThan(40);
    return functions;
  }
}
