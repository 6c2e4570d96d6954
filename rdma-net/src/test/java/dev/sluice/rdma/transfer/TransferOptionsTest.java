// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.PageSize;
import org.junit.jupiter.api.Test;

class TransferOptionsTest {
  private static final int DOORBELL_BYTES = 4096;

  @Test
  void aQueuePairPinsWholePagesForItsQueues() {
    TransferOptions options =
        TransferOptions.DEFAULT.with(
            o -> {
              o.maxQueuePairs = 10;
              o.sendQueueDepth = 1;
            });
    assertThat(options.acceptedQueuePairBytes()).isEqualTo(10L * (PageSize.BYTES + DOORBELL_BYTES));
    long connecting = options.queuePairBytes() - options.acceptedQueuePairBytes();
    assertThat(connecting).isEqualTo(10 * (PageSize.roundUp(4096 + 64) + DOORBELL_BYTES));
  }

  @Test
  void aValueThatIsNotAllowedIsRefusedByItsName() {
    assertThatThrownBy(() -> TransferOptions.DEFAULT.with(o -> o.maxQueuePairs = 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("maxQueuePairs is 0, must be at least 1");
  }
}
