// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Comparison.Pairs;
import java.util.List;
import org.junit.jupiter.api.Test;

class PairsTest {
  private final Pairs pairs = new Pairs();

  @Test
  void roundsOfOneNameMakeOneComparison() {
    pairs.less("heap", "B", 1, "stock", 2);
    pairs.more("rate", "1/s", 5, "socket", 10);
    pairs.less("heap", "B", 3, "stock", 4);

    List<Comparison> comparisons = List.copyOf(pairs.comparisons());

    assertThat(comparisons).extracting(Comparison::name).containsExactly("heap", "rate");
    assertThat(comparisons.getFirst().sluice()).containsExactly(1, 3);
    assertThat(comparisons.getFirst().partnerValues()).containsExactly(2, 4);
    assertThat(comparisons.getLast().better()).isEqualTo(Comparison.Better.MORE);
  }
}
