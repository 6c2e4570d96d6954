// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JvmDefectTest {
  @ParameterizedTest
  @ValueSource(strings = {"25", "25+36", "25.0.1", "25.0.2", "25.0.2+10-LTS", "25.0.2.1"})
  void g1MovesPinnedArraysBeforeTheFix(String version) {
    assertThat(JvmDefect.warning(Runtime.Version.parse(version), true))
        .hasValueSatisfying(
            warning -> assertThat(warning).contains(version, "JDK-8377811", "25.0.3"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"25.0.3", "25.0.3+9-LTS", "25.0.4", "26-ea+30", "26+35", "27-ea+1"})
  void fixedAndUnknownVersionsAreNotReported(String version) {
    assertThat(JvmDefect.warning(Runtime.Version.parse(version), true)).isEmpty();
  }

  @Test
  void otherCollectorsAreRight() {
    assertThat(JvmDefect.warning(Runtime.Version.parse("25.0.1"), false)).isEmpty();
  }

  @Test
  void theCollectorIsTheOneThatRuns() {
    String useG1 =
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
            .getVMOption("UseG1GC")
            .getValue();
    assertThat(JvmDefect.collectorIsG1()).isEqualTo(Boolean.parseBoolean(useG1));
  }
}
