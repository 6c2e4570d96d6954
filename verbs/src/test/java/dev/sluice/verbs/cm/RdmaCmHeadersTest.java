// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.ffi.CCompiler;
import dev.sluice.verbs.ffi.CHeader;
import dev.sluice.verbs.ffi.CHeaders;
import dev.sluice.verbs.ffi.CPrototypes;
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
final class RdmaCmHeadersTest {
  private static final String RDMA_CMA = "rdma/rdma_cma.h";
  private static final String RELEASES = "dev.sluice.verbs.ffi.CHeaders#all";

  /** Prefixes of the constants' C names. */
  private static final Map<Class<?>, String> PREFIXES =
      Map.of(
          RdmaCmId.PortSpace.class, "RDMA_PS_",
          RdmaCmEvent.Type.class, "RDMA_CM_EVENT_",
          RdmaCmId.Option.class, "RDMA_OPTION_",
          RdmaConnParam.class, "RDMA_",
          RdmaUdParam.class, "RDMA_",
          RdmaCmId.JoinFlags.class, "RDMA_MC_JOIN_FLAG_",
          RdmaAddrInfo.Flags.class, "RAI_");

  /** Constants, members and functions since rdma-core 60, which older releases lack. */
  private static final Set<String> NEWER =
      Set.of(
          "RDMA_CM_EVENT_ADDRINFO_RESOLVED",
          "RDMA_CM_EVENT_ADDRINFO_ERROR",
          "RDMA_CM_EVENT_USER",
          "RDMA_CM_EVENT_INTERNAL",
          "RAI_SA",
          "RAI_DNS",
          "offsetof(struct rdma_cm_event, param.arg)",
          "sizeof(((struct rdma_cm_event *)0)->param.arg)",
          "rdma_resolve_addrinfo",
          "rdma_query_addrinfo",
          "rdma_write_cm_event");

  @ParameterizedTest
  @MethodSource(RELEASES)
  @NeedsCHeader(RDMA_CMA)
  @Tag("c-layout")
  void structuresAreLaidOutAsInC(CHeaders headers, @TempDir Path directory) throws Exception {
    CHeader header = new CHeader(RDMA_CMA).newer(NEWER);
    assertThat(RdmaCmStructs.HEADER).hasSizeGreaterThan(12);
    RdmaCmStructs.HEADER.values().forEach(header::struct);
    header.assertAgrees(new CCompiler(directory), headers);
  }

  @ParameterizedTest
  @MethodSource(RELEASES)
  @NeedsCHeader(RDMA_CMA)
  @Tag("c-layout")
  void constantsHaveTheirValuesInC(CHeaders headers, @TempDir Path directory) throws Exception {
    CHeader header = new CHeader(RDMA_CMA).newer(NEWER);
    for (Map.Entry<Class<?>, String> type : PREFIXES.entrySet()) {
      header.constants(type.getKey(), type.getValue());
    }
    header.assertAgrees(new CCompiler(directory), headers);
  }

  @Test
  void everyEnumAndClassOfFlagsIsCompared() throws Exception {
    assertThat(PREFIXES.keySet())
        .containsExactlyInAnyOrderElementsOf(ConstantTypes.inPackageOf(RdmaCmStructs.class));
  }

  @ParameterizedTest
  @MethodSource(RELEASES)
  @NeedsCHeader(RDMA_CMA)
  void functionsHaveTheirParametersInC(CHeaders headers) throws Exception {
    CPrototypes prototypes = new CPrototypes(headers, "rdma/rdma_verbs.h");
    for (NativeFunction function : functions()) {
      prototypes.assertDeclares(function, NEWER);
    }
  }

  @Test
  void functionsAreExportedByTheLibrary() {
    try {
      LibRdmacm.Library.RDMACM.require();
    } catch (ProviderUnavailableException e) {
      Assumptions.abort(e.getMessage());
    }
    for (NativeFunction function : functions()) {
      CPrototypes.assertExported(LibRdmacm.Library.RDMACM, function, NEWER);
    }
  }

  private static List<NativeFunction> functions() {
    return Stream.of(LibRdmacm.values()).map(constant -> constant.function).toList();
  }
}
