// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CircuitBreakerTest {
  private final CircuitBreaker breaker = new CircuitBreaker(3, 100);
  private final CircuitBreaker backoff = CircuitBreaker.backoff();

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
    assertThat(breaker.isOpen(99)).isTrue();
    assertThat(breaker.isClosed()).isFalse();
    assertThat(breaker.isClear(0)).isFalse();
  }

  @Test
  void failuresWhileItIsOpenDoNotExtendThePause() {
    open();
    assertThat(breaker.failed(90)).isFalse();
    assertThat(breaker.admits(100)).isTrue();
  }

  @Test
  void afterThePauseItWaitsForAProbe() {
    open();
    assertThat(breaker.isOpen(150)).isTrue();
    assertThat(breaker.failed(150)).as("the failure of an older request").isFalse();
    assertThat(breaker.admits(150)).isTrue();
  }

  @Test
  void onePauseIsAsLongAsTheNext() {
    CircuitBreaker pausing = CircuitBreaker.pausing(100);
    for (int now = 0; now < 1_000; now += 100) {
      assertThat(pausing.isOpen(now)).isFalse();
      assertThat(pausing.failed(now)).isTrue();
      assertThat(pausing.isOpen(now + 99)).isTrue();
    }
    pausing.succeeded();
    assertThat(pausing.isOpen(900)).isFalse();
    assertThat(pausing.isClosed()).isTrue();
  }

  @Test
  void oneCallerForAllIsAdmittedAfterAPause() {
    CircuitBreaker pausing = CircuitBreaker.pausing(100);
    pausing.failed(0);
    assertThat(pausing.admits(99)).isFalse();
    assertThat(pausing.admits(100)).isTrue();
    assertThat(pausing.admits(100)).isFalse();
    assertThat(pausing.failed(150)).isTrue();
    assertThat(pausing.admits(249)).isFalse();
  }

  @Test
  void oneProbeDecides() {
    open();
    assertThat(breaker.admits(100)).isTrue();
    assertThat(breaker.isOpen(100)).as("the probe's own work requests may be posted").isFalse();
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
    assertThat(breaker.isOpen(110)).isTrue();
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

  @Test
  void failuresOfRequestsThatWereUnderWayTogetherCountOnce() {
    for (int i = 1; i <= 3; i++) {
      int outcomes = breaker.outcomes();
      assertThat(breaker.failed(outcomes, 0)).isEqualTo(i == 3);
      assertThat(breaker.failed(outcomes, 0)).isFalse();
    }
    assertThat(breaker.isOpen(0)).isTrue();
  }

  @Test
  void aFailureOfARequestDuringWhichAnotherSucceededDoesNotCount() {
    int outcomes = breaker.outcomes();
    breaker.succeeded();
    breaker.failed(outcomes, 0);
    assertThat(breaker.isClear(0)).isTrue();
  }

  @Test
  void aBackoffIsNotOpenBeforeAFailure() {
    assertThat(backoff.isOpen(Long.MIN_VALUE / 2)).isFalse();
    assertThat(backoff.isOpen(Long.MAX_VALUE / 2)).isFalse();
  }

  @Test
  void thePausesOfABackoffDoubleUpToALimit() {
    long nowMs = -1_000_000;
    long expectedMs = CircuitBreaker.FIRST_MS;
    for (int failures = 0; failures < 10; failures++) {
      backoff.failed(nowMs);
      assertThat(backoff.isOpen(nowMs + expectedMs - 1)).isTrue();
      assertThat(backoff.isOpen(nowMs + expectedMs)).isFalse();
      nowMs += expectedMs;
      expectedMs = Math.min(2 * expectedMs, CircuitBreaker.MAX_MS);
    }
  }

  @Test
  void failuresWithinThePauseOfABackoffDoNotLengthenIt() {
    for (int failures = 0; failures < 10; failures++) {
      backoff.failed(failures);
    }
    assertThat(backoff.isOpen(CircuitBreaker.FIRST_MS)).isFalse();
  }

  @Test
  void aFailureLongAfterTheLastOneIsTheFirstOfItsRow() {
    backoff.failed(0);
    backoff.failed(CircuitBreaker.FIRST_MS);
    long muchLaterMs = 10 * CircuitBreaker.MAX_MS;
    backoff.failed(muchLaterMs);
    assertThat(backoff.isOpen(muchLaterMs + CircuitBreaker.FIRST_MS)).isFalse();
  }
}
