package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TurnsTest {
  @Test
  void theOrderChangesFromRoundToRound() throws Exception {
    StringBuilder order = new StringBuilder();
    Turns.measure(List.of("a", "b"), 1, 2, (name, _) -> order.append(name).length());
    assertThat(order).hasToString("abbaab");
  }

  @Test
  void roundsThatWarmUpDoNotCount() throws Exception {
    List<String> measured = new ArrayList<>();
    double[][] values =
        Turns.measure(
            List.of("a", "b"),
            1,
            2,
            (name, _) -> {
              measured.add(name);
              return measured.size();
            });
    assertThat(values[0]).containsExactly(4, 5);
    assertThat(values[1]).containsExactly(3, 6);
  }
}
