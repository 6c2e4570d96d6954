// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class LatencyHistogramTest {
  private final LatencyHistogram histogram = new LatencyHistogram();

  private void record(long micros) {
    histogram.record(TimeUnit.MICROSECONDS.toNanos(micros), 1);
  }

  @Test
  void nothingHasBeenRecordedAtFirst() {
    LatencySnapshot none = histogram.snapshot();
    assertThat(none.count()).isZero();
    assertThat(none.quantile(0.5)).isZero();
    none.forEach((_, _) -> assertThat(false).as("a bucket has durations").isTrue());
  }

  @Test
  void bucketsAdjoinAndHoldTheirMiddle() {
    for (int bucket = 0; bucket < LatencyHistogram.BUCKETS; bucket++) {
      assertThat(LatencyHistogram.bucket(LatencyHistogram.micros(bucket))).isEqualTo(bucket);
    }
    int last = 0;
    for (long micros = 0; micros < 1 << 16; micros++) {
      int bucket = LatencyHistogram.bucket(micros);
      assertThat(bucket - last).isBetween(0, 1);
      last = bucket;
    }
  }

  @Test
  void everyDurationHasABucket() {
    assertThat(LatencyHistogram.bucket(-1)).isZero();
    assertThat(LatencyHistogram.bucket(Long.MAX_VALUE)).isEqualTo(LatencyHistogram.BUCKETS - 1);
    long fourMinutes = TimeUnit.MINUTES.toMicros(4);
    assertThat(LatencyHistogram.micros(LatencyHistogram.bucket(fourMinutes)))
        .isCloseTo(fourMinutes, Percentage.withPercentage(12.5));
  }

  @Test
  void quantilesAreOffByAnEighthAtMost() {
    Random random = new Random(7);
    List<Long> durations = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      long micros = (long) Math.exp(random.nextDouble(16));
      durations.add(micros);
      record(micros);
    }
    durations.sort(null);
    LatencySnapshot snapshot = histogram.snapshot();
    assertThat(snapshot.count()).isEqualTo(10_000);
    for (double share : new double[] {0, 0.01, 0.5, 0.99, 1}) {
      long exact = durations.get(Math.max(0, (int) Math.ceil(share * 10_000) - 1));
      assertThat(snapshot.quantile(share)).isCloseTo(exact, within(1 + exact / 8));
    }
  }

  @Test
  void oneOfAHundredIsAboveThe99thPercentile() {
    for (int i = 0; i < 99; i++) {
      record(2);
    }
    record(3_000_000);
    assertThat(histogram.snapshot().quantile(0.99)).isEqualTo(2);
    assertThat(histogram.snapshot().quantile(1)).isGreaterThan(2_000_000);
  }

  @Test
  void countsTravelAndAddUp() {
    record(2);
    record(1_000_000);
    LatencySnapshot snapshot = histogram.snapshot();
    assertThat(snapshot.counts()).startsWith(0L, 0L, 1L, 0L).endsWith(1L);
    LatencySnapshot twice = LatencySnapshot.of(snapshot.counts()).plus(snapshot);
    assertThat(twice.count()).isEqualTo(4);
    assertThat(twice.quantile(1)).isEqualTo(snapshot.quantile(1));
    assertThat(LatencySnapshot.of(List.of()).counts()).isEmpty();
    assertThat(LatencySnapshot.of(Collections.nCopies(1_000, 1L)).count()).isEqualTo(1_000);
  }

  @Test
  void aLaterSnapshotHasTheDurationsSinceAnEarlierOne() {
    record(1_000_000);
    LatencySnapshot earlier = histogram.snapshot();
    record(1);
    record(3);
    LatencySnapshot since = histogram.snapshot().since(earlier);
    List<String> durations = new ArrayList<>();
    since.forEach((micros, times) -> durations.add(times + " x " + micros));
    assertThat(durations).containsExactly("1 x 1", "1 x 3");
  }
}
