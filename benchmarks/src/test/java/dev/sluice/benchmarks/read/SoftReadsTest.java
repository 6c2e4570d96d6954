package dev.sluice.benchmarks.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Comparison;
import java.util.List;
import org.junit.jupiter.api.Test;

class SoftReadsTest {
  @Test
  void seamAndEndpointHaveARowEachBesideASocket() throws Exception {
    List<Comparison> rows = new SoftReads(1).measure(Workload.grid(List.of(4096), List.of(1, 8)));
    assertThat(rows)
        .extracting(Comparison::name)
        .containsExactly(
            "read-soft-seam-4KiB-x1",
            "read-soft-endpoint-4KiB-x1",
            "read-soft-seam-4KiB-x8",
            "read-soft-endpoint-4KiB-x8");
    assertThat(rows).allSatisfy(row -> assertThat(row.ratio()).isPositive());
  }
}
