// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlatformTest {
  @ParameterizedTest
  @ValueSource(
      strings = {"4.0", "4.0.0", "4.0.4", "4.1.3", "4.2.0", "4.2.7-SNAPSHOT", "4.1.1.vendor.12"})
  void runsOnEachTestedSpark4(String version) {
    assertThat(Platform.lack(21, version)).isEmpty();
    assertThat(Platform.lack(27, version)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"3.5.9", "4.3.0", "4.20.0", "4.10", "5.0.0", "4", "", "unknown"})
  void namesTheSparkInUseAndTheSupportedOnes(String version) {
    assertThat(Platform.lack(25, version)).contains("Spark 4.0 to 4.2", "this is Spark " + version);
  }

  @ParameterizedTest
  @ValueSource(ints = {17, 20})
  void namesTheJavaInUseAndTheSupportedOnes(int version) {
    assertThat(Platform.lack(version, "4.1.3"))
        .isEqualTo("RDMA shuffle needs Java 21, this JVM is Java " + version);
  }
}
