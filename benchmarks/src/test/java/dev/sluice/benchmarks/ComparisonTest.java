// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.BenchmarkRun.MachineLoad;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class ComparisonTest {
  private final ObjectMapper json = new ObjectMapper();

  @Test
  void theRatioIsTheMedianOfTheRoundsRatios() {
    Comparison comparison = comparison(1, 2, 30);

    assertThat(comparison.ratios()).containsExactly(0.1, 0.2, 3);
    assertThat(comparison.ratio()).isEqualTo(0.2);
    assertThat(comparison.goal()).isEqualTo(1.0);
    assertThat(comparison.reached()).isEqualTo("undecided");
  }

  @Test
  void comesBackFromJsonAsItWas() throws Exception {
    Comparison comparison = comparison(1, 2, 30);
    String text = json.writeValueAsString(comparison);
    Comparison read = json.readValue(text, Comparison.class);

    assertThat(read).usingRecursiveComparison().isEqualTo(comparison);
    JsonNode row = json.readTree(text);
    assertThat(row.path("partner_values")).hasSize(3);
    assertThat(row.path("ratio").asDouble()).isEqualTo(0.2);
    assertThat(row.path("reached").asText()).isEqualTo("undecided");
    assertThat(row.path("rounds_to_decide").asInt()).isGreaterThan(3);
  }

  @Test
  void aRowSaysWhichRunItIsFrom() throws Exception {
    BenchmarkRun run = BenchmarkRun.ended(MachineLoad.now(), List.of("--repeat", "5"));
    String text = json.writeValueAsString(comparison(1, 2, 30).from(run));

    assertThat(json.readValue(text, Comparison.class).run()).isEqualTo(run);
    assertThat(json.readTree(text).path("run").fieldNames())
        .toIterable()
        .containsExactly(
            "date",
            "host",
            "processors",
            "kernel",
            "java",
            "spark",
            "sluice",
            "options",
            "others_cpu_share",
            "stolen_cpu_share");
  }

  @Test
  void aRowOfOtherVersionsReplacesNoneOfTheDefault() {
    assertThat(BenchmarkRun.variant("4.2.0", 25)).isEmpty();
    assertThat(BenchmarkRun.variant("4.2.1", 21)).isEqualTo("@java-21");
    assertThat(BenchmarkRun.variant("4.1.2", 25)).isEqualTo("@spark-4.1");
    assertThat(BenchmarkRun.variant("4.1.2", 21)).isEqualTo("@spark-4.1-java-21");
  }

  @Test
  void roundsThatLackAPartnerAreRefused() {
    assertThatThrownBy(() -> comparison(1, 2)).isInstanceOf(IllegalArgumentException.class);
  }

  private static Comparison comparison(double... sluice) {
    double[] partner = sluice.length == 2 ? new double[] {10} : new double[sluice.length];
    Arrays.fill(partner, 10);
    return Comparison.less("terasort-1g", "s", sluice, "stock", partner);
  }
}
