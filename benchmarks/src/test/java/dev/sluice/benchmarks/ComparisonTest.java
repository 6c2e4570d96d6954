package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.Comparison.Better;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ComparisonTest {
  private final ObjectMapper json = new ObjectMapper();

  @Test
  void theRatioIsTheMedianOfTheRoundsRatios() {
    Comparison comparison = comparison(Better.LESS, 0.5, 1, 2, 30);

    assertThat(comparison.ratios()).containsExactly(0.1, 0.2, 3);
    assertThat(comparison.ratio()).isEqualTo(0.2);
    assertThat(comparison.reached()).isTrue();
  }

  @Test
  void aGoalIsReachedFromTheSideThatIsBetter() {
    assertThat(comparison(Better.LESS, 0.2, 2).reached()).isTrue();
    assertThat(comparison(Better.LESS, 0.19, 2).reached()).isFalse();
    assertThat(comparison(Better.MORE, 0.2, 2).reached()).isTrue();
    assertThat(comparison(Better.MORE, 0.21, 2).reached()).isFalse();
    assertThat(comparison(Better.MORE, null, 2).reached()).isNull();
  }

  @Test
  void comesBackFromJsonAsItWas() throws Exception {
    Comparison comparison = comparison(Better.MORE, 0.9, 1, 2, 30);
    String text = json.writeValueAsString(comparison);
    Comparison read = json.readValue(text, Comparison.class);

    assertThat(read).usingRecursiveComparison().isEqualTo(comparison);
    JsonNode row = json.readTree(text);
    assertThat(row.path("partner_values")).hasSize(3);
    assertThat(row.path("ratio").asDouble()).isEqualTo(0.2);
    assertThat(row.path("reached").isBoolean()).isTrue();
  }

  @Test
  void roundsThatLackAPartnerAreRefused() {
    assertThatThrownBy(() -> comparison(Better.LESS, null, 1, 2))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static Comparison comparison(Better better, Double goal, double... sluice) {
    double[] partner = sluice.length == 2 ? new double[] {10} : new double[sluice.length];
    Arrays.fill(partner, 10);
    return new Comparison("storm", "s", better, sluice, "stock", partner, goal);
  }
}
