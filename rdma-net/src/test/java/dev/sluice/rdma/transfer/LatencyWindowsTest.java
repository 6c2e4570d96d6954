// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LatencyWindowsTest {
  private final LatencyHistogram reads = new LatencyHistogram();
  private final LatencyWindows windows = new LatencyWindows(reads);

  private void record(int times, long micros, long bytes) {
    for (int i = 0; i < times; i++) {
      reads.record(TimeUnit.MICROSECONDS.toNanos(micros), bytes);
    }
  }

  private void assertRecent(long count, long bytes, long median) {
    LatencySnapshot recent = windows.recent();
    assertThat(recent.count()).isEqualTo(count);
    assertThat(recent.bytes()).isEqualTo(bytes);
    assertThat(recent.quantile(0.5)).isEqualTo(median);
  }

  @Test
  void theFirstWindowHasAllReads() {
    record(2, 1, 10);
    assertRecent(2, 20, 1);
    LatencyWindows later = new LatencyWindows(reads);
    assertThat(later.recent().count()).isEqualTo(2);
  }

  @Test
  void theReadsOfTwoWindowsAreRecent() {
    record(5, 1, 10);
    windows.next();
    assertRecent(5, 50, 1);
    record(1, 2, 100);
    assertRecent(6, 150, 1);
    windows.next();
    assertRecent(1, 100, 2);
    windows.next();
    assertRecent(0, 0, 0);
  }

  @Test
  void aWindowWithFewReadsGoesOn() {
    record(3, 1, 10);
    windows.next(4);
    windows.next(4);
    assertRecent(3, 30, 1);
    record(1, 1, 10);
    windows.next(4);
    record(3, 2, 1);
    windows.next(4);
    assertRecent(7, 43, 1);
    record(1, 2, 1);
    windows.next(4);
    assertRecent(4, 4, 2);
  }

  @Test
  void aRestartForgetsTheWindowBefore() {
    record(3, 1, 10);
    windows.next();
    record(2, 1, 10);
    windows.restart();
    assertRecent(0, 0, 0);
    record(1, 3, 7);
    windows.next();
    assertRecent(1, 7, 3);
  }

  @Test
  void windowsKnowTheirHistogram() {
    assertThat(windows.areOf(reads)).isTrue();
    assertThat(windows.areOf(new LatencyHistogram())).isFalse();
  }
}
