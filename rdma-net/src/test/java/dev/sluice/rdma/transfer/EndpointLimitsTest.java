// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.DeviceAttributes;
import org.junit.jupiter.api.Test;

class EndpointLimitsTest {
  private static DeviceAttributes allowing(int initRdAtomic) {
    return DeviceAttributes.NONE.with(nic -> nic.maxQueuePairInitRdAtomic = initRdAtomic);
  }

  @Test
  void noMoreReadsAreUnderWayThanTheDeviceAllows() {
    TransferOptions asked = SoftPair.OPTIONS;
    assertThat(asked.within(allowing(4)).connection().maxRdAtomic()).isEqualTo(4);
    assertThat(asked.within(allowing(128))).isEqualTo(asked);
  }
}
