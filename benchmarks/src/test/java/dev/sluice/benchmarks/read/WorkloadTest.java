package dev.sluice.benchmarks.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class WorkloadTest {
  private static final int MIB = 1 << 20;

  @Test
  void theGridLeavesOutWhatIsTooMuchToBeUnderWay() {
    assertThat(Workload.grid(List.of(16, 8 * MIB), List.of(1, 8, 64)))
        .extracting(Workload::name)
        .containsExactly("16B-x1", "16B-x8", "16B-x64", "8MiB-x1", "8MiB-x8");
  }

  @Test
  void aSizeHasItsShortestExactForm() {
    assertThat(new Workload(1025, 1).name()).isEqualTo("1025B-x1");
    assertThat(new Workload(1536 << 10, 1).name()).isEqualTo("1536KiB-x1");
  }
}
