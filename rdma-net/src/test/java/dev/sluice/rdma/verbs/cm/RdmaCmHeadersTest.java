package dev.sluice.rdma.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.verbs.ffi.CCompiler;
import dev.sluice.rdma.verbs.ffi.CHeader;
import dev.sluice.rdma.verbs.ffi.CPrototypes;
import dev.sluice.rdma.verbs.ffi.CStruct;
import dev.sluice.rdma.verbs.ffi.ConstantTypes;
import dev.sluice.rdma.verbs.ffi.NativeFunction;
import dev.sluice.rdma.verbs.ffi.NeedsCHeader;
import dev.sluice.rdma.verbs.ffi.StaticFields;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The binding's structures, constants and functions are those of the installed C header. */
final class RdmaCmHeadersTest {
  private static final String RDMA_CMA = "rdma/rdma_cma.h";

  /** What comes before a constant's name in C. */
  private static final Map<Class<?>, String> PREFIXES =
      Map.of(
          RdmaPortSpace.class, "RDMA_PS_",
          RdmaCmEventType.class, "RDMA_CM_EVENT_",
          RdmaOption.class, "RDMA_OPTION_",
          RdmaConnParam.class, "RDMA_");

  @Test
  @NeedsCHeader(RDMA_CMA)
  void structuresAreLaidOutAsInC(@TempDir Path directory) throws Exception {
    CHeader header = new CHeader(RDMA_CMA);
    List<CStruct> structs = StaticFields.of(RdmaCmStructs.class, CStruct.class);
    assertThat(structs).hasSizeGreaterThan(10);
    structs.forEach(header::struct);
    header.assertAgrees(new CCompiler(directory));
  }

  @Test
  @NeedsCHeader(RDMA_CMA)
  void constantsHaveTheirValuesInC(@TempDir Path directory) throws Exception {
    CHeader header = new CHeader(RDMA_CMA);
    for (Map.Entry<Class<?>, String> type : PREFIXES.entrySet()) {
      header.constants(type.getKey(), type.getValue());
    }
    header.assertAgrees(new CCompiler(directory));
  }

  @Test
  void everyEnumAndClassOfFlagsIsCompared() throws Exception {
    assertThat(PREFIXES.keySet())
        .containsExactlyInAnyOrderElementsOf(ConstantTypes.inPackageOf(RdmaCmStructs.class));
  }

  @Test
  @NeedsCHeader(RDMA_CMA)
  void functionsHaveTheirParametersInC() throws Exception {
    CPrototypes prototypes = new CPrototypes(RDMA_CMA);
    for (NativeFunction function : functions()) {
      prototypes.assertDeclares(function);
    }
  }

  @Test
  void functionsAreExportedByTheLibrary() throws IllegalAccessException {
    try {
      LibRdmacm.LIBRARY.require();
    } catch (ProviderUnavailableException e) {
      Assumptions.abort(e.getMessage());
    }
    for (NativeFunction function : functions()) {
      CPrototypes.assertExported(LibRdmacm.LIBRARY, function);
    }
  }

  private static List<NativeFunction> functions() throws IllegalAccessException {
    List<NativeFunction> functions = StaticFields.of(LibRdmacm.class, NativeFunction.class);
    assertThat(functions).hasSizeGreaterThan(10);
    return functions;
  }
}
