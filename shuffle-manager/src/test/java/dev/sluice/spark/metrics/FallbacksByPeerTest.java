// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.locate.DirectoryMessage.PeerBlocks;
import dev.sluice.spark.locate.DirectoryMessage.PeerFallbacks;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FallbacksByPeerTest {
  private final FallbacksByPeer fallbacks = new FallbacksByPeer();

  @Test
  void thePairsWithTheMostBlocksComeSingly() {
    fallbacks.add("a", "LATE", 3);
    fallbacks.add("b", "LATE", 7);
    fallbacks.add("a", "PEER", 1);
    fallbacks.add("a", "LATE", 5);
    assertThat(fallbacks.largest(2))
        .isEqualTo(
            new PeerFallbacks(
                16, List.of(new PeerBlocks("a", "LATE", 8), new PeerBlocks("b", "LATE", 7)), 1));
  }

  @Test
  void withoutFallbacksThereIsNothing() {
    assertThat(fallbacks.largest(2)).isEqualTo(new PeerFallbacks(0, List.of(), 0));
  }

  @Test
  void noBlockIsLostWhilePairsAreRemoved() throws Exception {
    int threads = 4;
    int pairs = 20_000;
    try (ExecutorService tasks = Executors.newFixedThreadPool(threads)) {
      List<Callable<Void>> counting =
          Collections.nCopies(
              threads,
              () -> {
                for (int peer = 0; peer < pairs; peer++) {
                  fallbacks.add("executor " + peer, "LATE", 1);
                }
                return null;
              });
      for (Future<Void> counted : tasks.invokeAll(counting, 60, TimeUnit.SECONDS)) {
        counted.get();
      }
    }
    PeerFallbacks all = fallbacks.largest(10);
    assertThat(all.sequence()).isEqualTo((long) threads * pairs);
    assertThat(all.otherBlocks())
        .isEqualTo(all.sequence() - all.largest().stream().mapToLong(PeerBlocks::blocks).sum());
  }

  /** Executors come and go, and an application may run for months. */
  @Test
  void thePairsAreLimitedAndTheSumIsRight() {
    fallbacks.add("first", "LATE", 1_000);
    for (int peer = 0; peer < 100_000; peer++) {
      fallbacks.add("executor " + peer, "NOT_REGISTERED", 2);
    }
    PeerFallbacks all = fallbacks.largest(Integer.MAX_VALUE);
    assertThat(all.largest())
        .hasSizeLessThanOrEqualTo(2 * FallbacksByPeer.MAX_PAIRS)
        .startsWith(new PeerBlocks("first", "LATE", 1_000));
    assertThat(all.sequence()).isEqualTo(201_000);
    assertThat(all.otherBlocks() + all.largest().stream().mapToLong(PeerBlocks::blocks).sum())
        .isEqualTo(201_000);
  }
}
