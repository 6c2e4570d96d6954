// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.transfer.PeerAddress;
import java.util.Optional;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.Test;
import scala.Option;

class SparkTransferTest {
  private static BlockManagerId at(String executorId) {
    return BlockManagerId.apply(executorId, "host-7", 4000, Option.empty());
  }

  @Test
  void fallbacksNameThePeerThatWouldBeRead() {
    PeerAddress node = new PeerAddress("f00-1", "host-5", 7077);
    assertThat(SparkTransfer.peer(at("7"), Optional.empty())).isEqualTo("executor 7 at host-7");
    assertThat(SparkTransfer.peer(at("7"), Optional.of(node)))
        .isEqualTo("node daemon at host-5:7077");
    assertThat(SparkTransfer.peer(at("shuffle-push-merger"), Optional.empty()))
        .isEqualTo("shuffle-push-merger at host-7");
  }
}
