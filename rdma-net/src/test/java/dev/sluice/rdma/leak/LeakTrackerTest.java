// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.leak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class LeakTrackerTest {

  @Test
  void noneRemembersNothing() {
    LeakTracker.Handle handle = LeakTracker.NONE.opened("buffer", 1);
    assertThat(LeakTracker.NONE.open()).isEmpty();
    handle.closed();
  }

  @Test
  void closingTwiceClosesOne() {
    LeakTracker tracker = new LeakTracker();
    tracker.opened("buffer", 1);
    LeakTracker.Handle handle = tracker.opened("buffer", 2);
    handle.closed();
    handle.closed();
    assertThat(tracker.open()).hasToString("[buffer 1]");
  }

  @Test
  void namesTheOpenerOfEachOpenObject() {
    LeakTracker tracker = new LeakTracker();
    tracker.opened("buffer", 1);
    tracker.opened("socket", 2).closed();
    tracker.opened("region", 3);
    assertThatThrownBy(() -> LeakCheck.assertNothingOpen(tracker))
        .isInstanceOf(AssertionError.class)
        .hasMessage("left open: [buffer 1, region 3]")
        .satisfies(
            error ->
                assertThat(error.getSuppressed()[0].getStackTrace())
                    .anyMatch(
                        frame -> frame.getMethodName().equals("namesTheOpenerOfEachOpenObject")));
  }

  @Test
  void acceptsThatAllIsClosed() {
    LeakTracker tracker = new LeakTracker();
    tracker.opened("buffer", 1).closed();
    assertThatCode(() -> LeakCheck.assertNothingOpen(tracker)).doesNotThrowAnyException();
  }
}
