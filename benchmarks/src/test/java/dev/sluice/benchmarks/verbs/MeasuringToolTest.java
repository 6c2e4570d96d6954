// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.verbs.MeasuringTool.Workload;
import dev.sluice.benchmarks.verbs.MeasuringTool.Workload.Operation;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class MeasuringToolTest {
  private static final int GID_INDEX = 1;

  @ParameterizedTest
  @EnumSource(Operation.class)
  void bothToolsMeasureTheSameOperation(Operation operation) {
    Workload latency = new Workload(operation, 16, 1);
    Workload bandwidth = new Workload(operation, 16, 64);
    String program = "ib_" + operation.label();
    assertThat(MeasuringTool.PERFTEST.program(bandwidth, GID_INDEX)).startsWith(program + "_bw");
    assertThat(MeasuringTool.PERFTEST.program(latency, GID_INDEX)).startsWith(program + "_lat");
    assertThat(MeasuringTool.OURS.program(bandwidth, GID_INDEX))
        .containsSequence("bw", "--op", operation.label());
    assertThat(MeasuringTool.OURS.program(latency, GID_INDEX))
        .containsSequence("lat", "--op", operation.label());
  }

  @ParameterizedTest
  @CsvSource({"41.19, 41.19", "inf, 0", "nan, 0", "-nan, 0", "0.00, 0"})
  void aFigureThatPerftestCouldNotComputeIsNone(String printed, double value) throws IOException {
    String output =
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]\n"
            + " 16      1000          39.79          20063.76      %s   \n".formatted(printed);
    Workload latency = new Workload(Operation.WRITE, 16, 1);
    assertThat(MeasuringTool.PERFTEST.value(output, latency, 1000)).isEqualTo(value);
  }
}
