// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.verbs.MeasuringTool.Workload;
import dev.sluice.benchmarks.verbs.MeasuringTool.Workload.Operation;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorkloadTest {
  private static final int MIB = 1 << 20;

  @Test
  void theGridLeavesOutCasesWithTooMuchUnderWay() {
    assertThat(Workload.grid(Operation.WRITE, List.of(16, 8 * MIB), List.of(1, 8, 64)))
        .extracting(Workload::name)
        .containsExactly(
            "write-verbs-16B-x1",
            "write-verbs-16B-x8",
            "write-verbs-16B-x64",
            "write-verbs-8MiB-x1",
            "write-verbs-8MiB-x8");
  }

  @Test
  void aSizeHasItsShortestExactForm() {
    assertThat(new Workload(Operation.READ, 1025, 1).name()).isEqualTo("read-verbs-1025B-x1");
    assertThat(new Workload(Operation.SEND, 1536 << 10, 1).name())
        .isEqualTo("send-verbs-1536KiB-x1");
  }
}
