// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Latencies that lat computes from its time stamps. */
final class LatencyResultTest {
  @Test
  void takesTheClockOffEachLatency() {
    LatencyCommand.Result result = LatencyCommand.Result.of(new long[] {0, 110, 230, 360}, 10, 1);
    assertThat(result.sorted()).hasSize(3);
    assertThat(result.percentile(0)).isEqualTo(100);
    assertThat(result.percentile(0.5)).isEqualTo(110);
    assertThat(result.percentile(1)).isEqualTo(120);
    assertThat(result.average()).isEqualTo(110);
    assertThat(result.clock()).isEqualTo(10);
  }

  @Test
  void aMessageThereAndBackIsTwo() {
    assertThat(LatencyCommand.Result.of(new long[] {0, 100}, 0, 2).percentile(0.5)).isEqualTo(50);
  }

  @Test
  void percentilesAreOfTheSlowest() {
    long[] stamps = new long[1001];
    for (int i = 1; i < stamps.length; i++) {
      stamps[i] = stamps[i - 1] + i;
    }
    LatencyCommand.Result result = LatencyCommand.Result.of(stamps, 0, 1);
    assertThat(result.percentile(0.5)).isEqualTo(501);
    assertThat(result.percentile(0.99)).isEqualTo(991);
    assertThat(result.percentile(0.999)).isEqualTo(1000);
  }
}
