// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.read.Workload.Operation;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class MeasuringToolTest {
  private static final int GID_INDEX = 1;

  @ParameterizedTest
  @EnumSource(Operation.class)
  void bothToolsMeasureTheSameOperation(Operation operation) {
    MeasuringTool perftest = MeasuringTool.perftest(operation, GID_INDEX);
    MeasuringTool ours = MeasuringTool.ours(operation, GID_INDEX);
    String program = "ib_" + operation.label();
    assertThat(perftest.bandwidthCommand()).startsWith(program + "_bw");
    assertThat(perftest.latencyCommand()).startsWith(program + "_lat");
    assertThat(ours.bandwidthCommand()).containsSequence("bw", "--op", operation.label());
    assertThat(ours.latencyCommand()).containsSequence("lat", "--op", operation.label());
  }

  @ParameterizedTest
  @CsvSource({"41.19, 41.19", "inf, 0", "nan, 0", "-nan, 0", "0.00, 0"})
  void aFigureThatPerftestCouldNotComputeIsNone(String printed, double value) throws IOException {
    MeasuringTool perftest = MeasuringTool.perftest(Operation.WRITE, GID_INDEX);
    String output =
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]\n"
            + " 16      1000          39.79          20063.76      %s   \n".formatted(printed);
    assertThat(perftest.value(output, new Workload(Operation.WRITE, 16, 1), 1000)).isEqualTo(value);
  }
}
