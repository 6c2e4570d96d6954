// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PeerQuotaTest {
  private final PeerQuota<String> quota = new PeerQuota<>(100, 40);
  private final List<String> granted = new ArrayList<>();

  private boolean acquire(String peer, long bytes) {
    return quota.acquire(peer, bytes, () -> granted.add(peer + bytes));
  }

  @Test
  void aPeerThatHasItsShareWaitsAndOthersDoNot() {
    assertThat(acquire("slow", 40)).isTrue();
    assertThat(acquire("slow", 10)).isFalse();
    assertThat(acquire("fast", 30)).isTrue();
    assertThat(granted).containsExactly("slow40", "fast30");
    quota.release("slow", 40);
    assertThat(granted).containsExactly("slow40", "fast30", "slow10");
    assertThat(quota.bytes()).isEqualTo(40);
  }

  @Test
  void aRequestLargerThanAShareIsServedAlone() {
    acquire("a", 60);
    acquire("a", 1);
    assertThat(granted).containsExactly("a60");
    quota.release("a", 60);
    assertThat(granted).containsExactly("a60", "a1");
  }

  @Test
  void aRequestLargerThanTheWholeQuotaIsServedWhenNothingIsTaken() {
    acquire("a", 10);
    acquire("b", 200);
    assertThat(granted).containsExactly("a10");
    quota.release("a", 10);
    assertThat(granted).containsExactly("a10", "b200");
  }

  @Test
  void noRequestOvertakesTheFirstThatWaitsForTheLastBytes() {
    acquire("a", 40);
    acquire("b", 40);
    acquire("c", 40);
    acquire("d", 1);
    assertThat(granted).containsExactly("a40", "b40");
    quota.release("a", 40);
    assertThat(granted).containsExactly("a40", "b40", "c40", "d1");
  }

  @Test
  void peersAreServedInTurn() {
    acquire("z", 100);
    acquire("a", 30);
    acquire("a", 30);
    acquire("b", 30);
    quota.release("z", 100);
    assertThat(granted).containsExactly("z100", "a30", "b30");
    quota.release("a", 30);
    assertThat(granted).endsWith("a30").hasSize(4);
  }

  @Test
  void releasingAtOnceDoesNotRecurse() {
    acquire("a", 40);
    for (int i = 0; i < 100_000; i++) {
      quota.acquire("a", 40, () -> quota.release("a", 40));
    }
    quota.release("a", 40);
    assertThat(quota.bytes()).isZero();
  }

  @Test
  void aFailingTakerDoesNotDelayOthers() {
    quota.acquire(
        "a",
        1,
        () -> {
          throw new IllegalStateException("on purpose");
        });
    acquire("b", 1);
    assertThat(granted).containsExactly("b1");
  }
}
