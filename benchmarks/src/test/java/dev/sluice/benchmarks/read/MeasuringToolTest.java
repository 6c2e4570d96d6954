package dev.sluice.benchmarks.read;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
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
}
