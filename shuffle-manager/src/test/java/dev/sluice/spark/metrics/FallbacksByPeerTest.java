// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.locate.DirectoryMessage.PeerBlocks;
import dev.sluice.spark.locate.DirectoryMessage.PeerFallbacks;
import java.util.List;
import org.junit.jupiter.api.Test;

class FallbacksByPeerTest {
  private final FallbacksByPeer fallbacks = new FallbacksByPeer();

  @Test
  void thePairsWithTheMostBlocksComeSingly() {
    fallbacks.add("a", "LATE", 3);
    fallbacks.add("b", "LATE", 7);
    fallbacks.add("a", "PEER", 1);
    fallbacks.add("a", "LATE", 5);
    assertThat(fallbacks.largest("1", 2))
        .isEqualTo(
            new PeerFallbacks(
                "1",
                16,
                List.of(new PeerBlocks("a", "LATE", 8), new PeerBlocks("b", "LATE", 7)),
                1));
  }

  @Test
  void withoutFallbacksThereIsNothing() {
    assertThat(fallbacks.largest("1", 2)).isEqualTo(new PeerFallbacks("1", 0, List.of(), 0));
  }

  /** Executors come and go, and an application may run for months. */
  @Test
  void thePairsAreLimitedAndTheSumIsRight() {
    fallbacks.add("first", "LATE", 1_000);
    for (int peer = 0; peer < 100_000; peer++) {
      fallbacks.add("executor " + peer, "NOT_REGISTERED", 2);
    }
    PeerFallbacks all = fallbacks.largest("1", Integer.MAX_VALUE);
    assertThat(all.largest())
        .hasSizeLessThanOrEqualTo(2 * FallbacksByPeer.MAX_PAIRS)
        .startsWith(new PeerBlocks("first", "LATE", 1_000));
    assertThat(all.sequence()).isEqualTo(201_000);
    assertThat(all.otherBlocks() + all.largest().stream().mapToLong(PeerBlocks::blocks).sum())
        .isEqualTo(201_000);
  }
}
