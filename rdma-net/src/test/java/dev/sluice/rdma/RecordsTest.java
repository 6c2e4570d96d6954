// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.verbs.Records;
import org.junit.jupiter.api.Test;

class RecordsTest {
  @Test
  void unchangedComponentsStay() {
    TransferOptions options = TransferOptions.DEFAULT.with(o -> o.maxQueuePairs = 7);
    assertThat(options.maxQueuePairs()).isEqualTo(7);
    assertThat(options.with(o -> o.maxQueuePairs = TransferOptions.DEFAULT.maxQueuePairs()))
        .isEqualTo(TransferOptions.DEFAULT);
  }

  @Test
  void exceptionsOfTheRecordAreThrownUnwrapped() {
    assertThatThrownBy(() -> TransferOptions.DEFAULT.with(o -> o.maxQueuePairs = 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("maxQueuePairs is 0, must be at least 1");
  }

  @Test
  void aBuilderWithoutAComponentsFieldIsRefused() {
    assertThatThrownBy(() -> Records.of(RemoteRegion.class, new Object()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("RemoteRegion");
  }
}
