package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.soft.SoftOptions;
import org.junit.jupiter.api.Test;

class EndpointLimitsTest {
  private static DeviceAttributes allowing(int initRdAtomic) {
    DeviceAttributes nic = SoftOptions.SMALL_NIC;
    return new DeviceAttributes(
        nic.maxQueuePairs(),
        nic.maxQueuePairWr(),
        nic.maxSge(),
        nic.maxCompletionQueues(),
        nic.maxCompletionQueueEntries(),
        nic.maxMemoryRegions(),
        nic.maxMemoryRegionSize(),
        nic.maxProtectionDomains(),
        nic.maxQueuePairRdAtomic(),
        initRdAtomic,
        nic.maxMessageSize(),
        nic.maxInlineData());
  }

  @Test
  void noMoreReadsAreUnderWayThanTheDeviceAllows() {
    TransferOptions asked = SoftPair.OPTIONS;
    assertThat(asked.within(allowing(4)).connection().maxRdAtomic()).isEqualTo(4);
    assertThat(asked.within(allowing(128))).isEqualTo(asked);
  }
}
