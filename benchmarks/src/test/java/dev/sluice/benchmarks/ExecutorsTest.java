package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ExecutorsTest {
  @Test
  void executorsAreKnownByTheirCommandLine() {
    assertThat(Executors.id(List.of("java", "Backend", "--executor-id", "1", "--cores")))
        .contains("1");
    assertThat(Executors.id(List.of("java", "Other"))).isEmpty();
    assertThat(Executors.id(List.of("java", "--executor-id"))).isEmpty();
  }
}
