// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.transfer.PeerAddress;
import org.junit.jupiter.api.Test;

class PeerNameTest {
  @Test
  void aPeerHasTheSameNameWhereverItIsKnownFrom() {
    assertThat(PeerName.of(new PeerAddress("7", "host-7", 4000)))
        .isEqualTo(PeerName.executor("7", "host-7"))
        .isEqualTo("executor 7 at host-7");
    PeerAddress node = new PeerAddress("f00-1", "host-5", 7077);
    assertThat(PeerName.of(node))
        .isEqualTo(PeerName.node(node))
        .isEqualTo("node daemon at host-5:7077");
  }

  @Test
  void anIdThatIsNoNumberIsItsOwnName() {
    assertThat(PeerName.executor("shuffle-push-merger", "host-7"))
        .isEqualTo("shuffle-push-merger at host-7");
  }
}
