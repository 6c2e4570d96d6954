// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.verbs.ibv.IbvAsyncEvent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** At the limit of queue pairs, each further peer costs the device nothing. */
class ManyPeersTest extends FakeAdaptersTestCase {
  private static final int LIMIT = 64;

  private LoopbackEndpoint loopback;

  @BeforeEach
  void openEndpoint() throws Exception {
    loopback =
        new LoopbackEndpoint(
            open(),
            TransferOptions.DEFAULT.with(
                o -> {
                  o.bufferPoolBytes = 1 << 20;
                  o.maxQueuePairs = LIMIT;
                }));
  }

  @AfterEach
  void closeEndpoint() {
    loopback.close();
  }

  @Test
  void refusedPeersCauseNoQueriesOfStates() throws Exception {
    for (int i = 0; i < LIMIT; i++) {
      loopback.accept("peer-" + i);
    }
    for (int i = 0; i < 100; i++) {
      String peer = "further-" + i;
      assertThatThrownBy(() -> loopback.accept(peer)).hasMessageContaining("are in use");
    }
    assertThat(adapters.get(0, "query_qp"))
        .as("at most one query for each queue pair")
        .isLessThanOrEqualTo(LIMIT);
  }

  @Test
  void queuePairsThatAPeerBrokeMakeRoomWithoutAQuery() throws Exception {
    int first = loopback.accept("peer-0").qpNumber();
    for (int i = 1; i < LIMIT; i++) {
      loopback.accept("peer-" + i);
    }
    adapters.raise(0, IbvAsyncEvent.Type.QP_ACCESS_ERR, first);
    long destroyed = adapters.get(0, "destroy_qp");
    await("there is room", () -> isAccepted("further"));

    await("it is destroyed", () -> adapters.get(0, "destroy_qp") == destroyed + 1);
    assertThat(adapters.get(0, "query_qp")).isLessThanOrEqualTo(LIMIT);
  }

  private boolean isAccepted(String peerId) {
    try {
      loopback.accept(peerId);
      return true;
    } catch (Exception e) {
      return false;
    }
  }
}
