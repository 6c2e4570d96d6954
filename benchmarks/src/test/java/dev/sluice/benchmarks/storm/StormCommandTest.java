// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.benchmarks.storm.StormCase.Workload;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

class StormCommandTest {
  @Test
  void withoutAChoiceItIsSevenStorms() {
    assertThat(cases("--rounds", "1"))
        .extracting(StormCase::name)
        .containsExactly(
            "rdd-kryo-400x400-1KB",
            "rdd-java-400x400-1KB",
            "sql-repartition-400x400-0.3KB",
            "sql-aggregate-400x200-1.2KB",
            "rdd-kryo-32x32-1MiB",
            "rdd-kryo-100x100-0.3KB",
            "rdd-kryo-1000x1000-0.3KB");
  }

  @Test
  void anyChoiceIsOneStorm() {
    assertThat(cases("--maps", "20"))
        .containsExactly(StormCase.of(Workload.RDD_KRYO, 20, 400, 1000));
    assertThat(cases("--workload", "sql-repartition", "--partitions", "7", "--block-bytes", "300"))
        .containsExactly(StormCase.of(Workload.SQL_REPARTITION, 400, 7, 300));
    assertThat(cases("--cold"))
        .containsExactly(new StormCase(Workload.RDD_KRYO, 400, 400, 1000, true, false));
    assertThat(cases("--new-shuffles"))
        .containsExactly(new StormCase(Workload.RDD_KRYO, 400, 400, 1000, false, true));
  }

  @Test
  void anUnknownWorkloadIsAnErrorOfUse() {
    assertThatThrownBy(() -> cases("--workload", "rdd")).isInstanceOf(ParameterException.class);
  }

  @Test
  void aWorkloadThatAlwaysWritesNewShufflesIsNotSplitIntoStages() {
    assertThatThrownBy(() -> cases("--new-shuffles", "--workload", "rdd-iterative"))
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining("rdd-iterative writes new shuffles");
  }

  private static List<StormCase> cases(String... arguments) {
    StormCommand command = new StormCommand();
    new CommandLine(command).parseArgs(arguments);
    return command.cases();
  }
}
