// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class CpuTicksTest {
  @Test
  void ticksOfEndedChildrenCount() {
    assertThat(CpuTicks.of("7 (a (b) c) S 1 7 7 0 -1 0 0 0 0 0 40 3 200 1000 20 0 1 0 99"))
        .isEqualTo(1243);
  }

  @Test
  void aProcessThatHasEndedHasNone() {
    assertThat(CpuTicks.of("")).isZero();
  }

  @Test
  void thisProcessHasSome() throws Exception {
    assertThat(CpuTicks.of(Files.readString(Path.of("/proc/self/stat")))).isPositive();
  }
}
