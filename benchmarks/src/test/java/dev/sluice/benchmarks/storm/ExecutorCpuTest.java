package dev.sluice.benchmarks.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ExecutorCpuTest {
  @Test
  void timesAreFoundOfChildrenThatAreExecutors() throws Exception {
    Process executor = start("--executor-id");
    Process other = start("--other");
    try {
      assertThat(executor.getInputStream().read()).isEqualTo('r');
      assertThat(other.getInputStream().read()).isEqualTo('r');
      assertThat(ExecutorCpu.seconds()).containsOnlyKeys("17");
    } finally {
      executor.destroyForcibly().waitFor();
      other.destroyForcibly().waitFor();
    }
  }

  @Test
  void whatIsUsedIsTheDifference() {
    assertThat(ExecutorCpu.between(Map.of("0", 1.0, "1", 2.0), Map.of("0", 1.5, "1", 5.0)))
        .isEqualTo(Map.of("0", 0.5, "1", 3.0));
  }

  /** Says that it runs, and waits to be destroyed. */
  private static Process start(String option) throws Exception {
    return new ProcessBuilder("sh", "-c", "echo r; read wait", "sh", option, "17").start();
  }
}
