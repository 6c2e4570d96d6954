// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.staging;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.concurrent.LinkedBlockingDeque;
import org.junit.jupiter.api.Test;

class StageQueueTest {
  private static final int PAGE = 4096;
  private static final int SHARE = 4 * PAGE;
  private static final int READERS = 2;

  private final LinkedBlockingDeque<StageRequest> begun = new LinkedBlockingDeque<>();
  private final StageQueue queue = new StageQueue(SHARE, maxReaders(), begun::add);

  private static int[] maxReaders() {
    int[] most = new int[20];
    Arrays.fill(most, READERS);
    return most;
  }

  private StageRequest add(Object peer, int bytes, int... lanes) {
    StageRequest request = request(peer, bytes, lanes);
    queue.add(request);
    return request;
  }

  private static StageRequest request(Object peer, int bytes, int... lanes) {
    StageRequest request = new StageRequest(peer, () -> true, null, 0, _ -> {});
    request.step(bytes * lanes.length, Arrays.stream(lanes).distinct().toArray(), 0);
    return request;
  }

  private void end(StageRequest request) {
    queue.wasRead(request.lanes());
    queue.end(request);
  }

  /** Buffers have whole pages. */
  @Test
  void aShareIsOfPages() {
    for (int i = 0; i < 10; i++) {
      StageRequest request = add("a", 1, 0);
      queue.wasRead(request.lanes());
    }
    assertThat(begun).hasSize(SHARE / PAGE);
    StageRequest first = begun.getFirst();
    queue.end(first);
    queue.end(first);
    assertThat(begun).hasSize(SHARE / PAGE + 1);
  }

  /** The peer may leave, or its disk hang, before the request is queued. */
  @Test
  void answeredRequestsGetNoTurn() {
    StageRequest answered = request("a", SHARE, 0);
    answered.answer("anything");
    queue.end(answered);
    assertThat(queue.add(answered)).isTrue();
    StageRequest next = add("a", SHARE, 0);
    assertThat(begun).containsExactly(next);
  }

  /** Small requests that would fit wait all the time. */
  @Test
  void aLargeRequestIsNotOvertakenBySmallOnesOfItsPeer() {
    add("a", PAGE, 0);
    add("a", PAGE, 1);
    StageRequest large = add("a", SHARE - PAGE, 2);
    for (int i = 0; i < 10; i++) {
      add("a", PAGE, 3 + i);
    }
    assertThat(begun).hasSize(2);
    end(begun.getFirst());
    assertThat(begun).contains(large);
  }

  /** One of many thousands that wait, as at an executor that all others read from. */
  private static final class Waiting {
    static int looks;

    @Override
    public boolean equals(Object other) {
      return this == other;
    }

    @Override
    public int hashCode() {
      looks++;
      return System.identityHashCode(this);
    }
  }

  @Test
  void requestsThatCannotBeAdmittedAreNotChecked() {
    for (int peer = 0; peer < READERS; peer++) {
      add(peer, PAGE, 0, 1);
    }
    Waiting.looks = 0;
    for (int i = 0; i < 1_000; i++) {
      add(new Waiting(), PAGE, i % 2);
    }
    assertThat(Waiting.looks).isZero();
    end(begun.getFirst());
    assertThat(begun).hasSize(READERS + 2);
    assertThat(Waiting.looks).isLessThan(20);
  }

  /** Other requests for one of its lanes wait all the time. */
  @Test
  void aRequestOfManyLanesGetsItsTurn() {
    for (int peer = 0; peer < READERS; peer++) {
      add(peer, PAGE, 0);
      add(peer, PAGE, 1);
    }
    StageRequest both = add("both", PAGE, 0, 1);
    for (int peer = 10; peer < 20; peer++) {
      add(peer, PAGE, 0);
      add(peer, PAGE, 1);
    }
    end(begun.removeFirst());
    end(begun.removeFirst());
    assertThat(begun).contains(both);
  }

  @Test
  void aRequestThatWaitsForOneLaneDoesNotHoldUpThoseOfAnother() {
    for (int peer = 0; peer < READERS; peer++) {
      add(peer, PAGE, 0);
    }
    StageRequest both = add("both", PAGE, 0, 1);
    for (int peer = 10; peer < 20; peer++) {
      StageRequest other = add(peer, PAGE, 1);
      assertThat(begun.getLast()).isSameAs(other);
      end(other);
    }
    assertThat(begun).doesNotContain(both);
  }
}
