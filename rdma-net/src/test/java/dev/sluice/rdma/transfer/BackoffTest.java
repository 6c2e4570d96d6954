// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BackoffTest {
  private final Backoff backoff = new Backoff();

  @Test
  void withoutFailuresAnAttemptIsAllowedAtAnyTime() {
    assertThat(backoff.isOver(Long.MIN_VALUE / 2)).isTrue();
    assertThat(backoff.isOver(Long.MAX_VALUE / 2)).isTrue();
  }

  @Test
  void pausesInARowDoubleUpToALimit() {
    long nowMs = -1_000_000;
    long expectedMs = Backoff.FIRST_MS;
    for (int failures = 0; failures < 10; failures++) {
      backoff.failed(nowMs);
      assertThat(backoff.isOver(nowMs + expectedMs - 1)).isFalse();
      assertThat(backoff.isOver(nowMs + expectedMs)).isTrue();
      nowMs += expectedMs;
      expectedMs = Math.min(2 * expectedMs, Backoff.MAX_MS);
    }
  }

  @Test
  void failuresWithinThePauseDoNotLengthenIt() {
    for (int failures = 0; failures < 10; failures++) {
      backoff.failed(failures);
    }
    assertThat(backoff.isOver(Backoff.FIRST_MS)).isTrue();
  }

  @Test
  void aFailureLongAfterTheLastOneIsTheFirstOfItsRow() {
    backoff.failed(0);
    backoff.failed(Backoff.FIRST_MS);
    long muchLaterMs = 10 * Backoff.MAX_MS;
    backoff.failed(muchLaterMs);
    assertThat(backoff.isOver(muchLaterMs + Backoff.FIRST_MS)).isTrue();
  }
}
