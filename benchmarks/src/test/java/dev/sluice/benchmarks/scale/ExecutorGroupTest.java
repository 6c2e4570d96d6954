package dev.sluice.benchmarks.scale;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.NetworkParts;
import java.util.List;
import org.junit.jupiter.api.Test;

class ExecutorGroupTest {
  @Test
  void allToAllTakesOneQueuePairEachWayForEachPeer() throws Exception {
    try (ExecutorGroup group = ExecutorGroup.start(3)) {
      assertThat(group.queuePairs()).isZero();

      group.connectAll();

      assertThat(group.queuePairs()).isEqualTo(2 * 3 * 2);
    }
  }

  @Test
  void loadReadsFromEachOfThePeers() throws Exception {
    try (ExecutorGroup group = ExecutorGroup.start(3);
        ReadLoad load = new ReadLoad(group.get(0).endpoint(), 4, 16)) {
      List<NetworkParts> peers = group.peersOfFirst();

      load.measure(peers, 100);

      assertThat(group.queuePairs()).isEqualTo(2 * peers.size());
    }
  }
}
