// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CircuitBreakerTest {
  private final CircuitBreaker breaker = new CircuitBreaker(3, 100);

  private void open() {
    breaker.failed(0);
    breaker.failed(0);
    assertThat(breaker.failed(0)).isTrue();
  }

  @Test
  void opensAfterFailuresInARowOnly() {
    assertThat(breaker.failed(0)).isFalse();
    assertThat(breaker.failed(0)).isFalse();
    breaker.succeeded();
    assertThat(breaker.isClear(0)).isTrue();
    open();
    assertThat(breaker.admits(99)).isFalse();
    assertThat(breaker.isOpen()).isTrue();
    assertThat(breaker.isClear(0)).isFalse();
  }

  @Test
  void failuresWhileItIsOpenDoNotExtendTheCooldown() {
    open();
    assertThat(breaker.failed(90)).isFalse();
    assertThat(breaker.admits(100)).isTrue();
  }

  @Test
  void oneProbeDecides() {
    open();
    assertThat(breaker.admits(100)).isTrue();
    assertThat(breaker.isOpen()).as("the probe's own work requests may be posted").isFalse();
    assertThat(breaker.admits(100)).isFalse();
    assertThat(breaker.failed(110)).isTrue();
    assertThat(breaker.admits(209)).isFalse();
    assertThat(breaker.admits(210)).isTrue();
    breaker.succeeded();
    assertThat(breaker.admits(210)).isTrue();
    assertThat(breaker.admits(210)).isTrue();
  }

  @Test
  void aProbeWithoutAnAnswerCountsAsFailedAndOtherwiseNothingDoes() {
    breaker.probeEnded(0);
    assertThat(breaker.isClear(0)).isTrue();
    open();
    breaker.admits(100);
    breaker.probeEnded(110);
    assertThat(breaker.isOpen()).isTrue();
  }

  @Test
  void oldFailuresDoNotCount() {
    open();
    assertThat(breaker.isClear(999)).isFalse();
    assertThat(breaker.isClear(1000)).isTrue();
    breaker.admits(1000);
    assertThat(breaker.isClear(1000)).as("a probe is under way").isFalse();
    breaker.failed(1010);
    assertThat(breaker.isClear(1010)).isFalse();
  }

  @Test
  void theClockMayWrapAround() {
    long late = Long.MAX_VALUE - 10;
    breaker.failed(late);
    breaker.failed(late);
    breaker.failed(late);
    assertThat(breaker.admits(late + 99)).isFalse();
    assertThat(breaker.admits(late + 100)).isTrue();
  }
}
