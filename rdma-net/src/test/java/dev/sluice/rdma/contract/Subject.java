// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.contract;

import dev.sluice.rdma.Provider;
import dev.sluice.rdma.leak.LeakTracker;
import java.net.InetAddress;
import java.util.Set;

/** Provider under test. */
public interface Subject {
  /** Creates the provider; the tracker records its open objects. */
  Provider provider(LeakTracker tracker);

  /** Address to open devices with. */
  default InetAddress localAddress() {
    return InetAddress.getLoopbackAddress();
  }

  /** Deviations of the device from the contract. */
  default Set<Deviation> deviations() {
    return Set.of();
  }

  /**
   * True if queue pairs connect by the contents of their addresses alone. Otherwise one side cannot
   * be ahead of the other, and each side learns that the other is gone. The provider's own tests
   * cover that.
   */
  default boolean connectsByAddresses() {
    return true;
  }
}
