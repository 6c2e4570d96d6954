// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Latencies that lat computes from its time stamps. */
final class LatencyResultTest {
  @Test
  void takesTheClockOffEachLatency() {
    LatencyCommand.Result result = LatencyCommand.Result.of(new long[] {0, 110, 230, 360}, 10, 1);
    assertThat(result.count()).isEqualTo(3);
    assertThat(result.min()).isEqualTo(100);
    assertThat(result.typical()).isEqualTo(110);
    assertThat(result.max()).isEqualTo(120);
    assertThat(result.average()).isEqualTo(110);
    assertThat(result.clock()).isEqualTo(10);
  }

  @Test
  void aMessageThereAndBackIsTwo() {
    assertThat(LatencyCommand.Result.of(new long[] {0, 100}, 0, 2).typical()).isEqualTo(50);
  }

  @Test
  void percentilesAreOfTheSlowest() {
    long[] stamps = new long[1001];
    for (int i = 1; i < stamps.length; i++) {
      stamps[i] = stamps[i - 1] + i;
    }
    LatencyCommand.Result result = LatencyCommand.Result.of(stamps, 0, 1);
    assertThat(result.typical()).isEqualTo(501);
    assertThat(result.p99()).isEqualTo(991);
    assertThat(result.p999()).isEqualTo(1000);
  }
}
