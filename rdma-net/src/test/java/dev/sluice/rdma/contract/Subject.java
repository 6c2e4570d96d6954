package dev.sluice.rdma.contract;

import dev.sluice.rdma.Provider;
import dev.sluice.rdma.leak.LeakTracker;
import java.net.InetAddress;
import java.util.Set;

/** What the contract is run on. */
public interface Subject {
  /** Makes the provider; the tracker learns what it has open. */
  Provider provider(LeakTracker tracker);

  /** The address that devices are opened with. */
  default InetAddress localAddress() {
    return InetAddress.getLoopbackAddress();
  }

  /** What the device does otherwise than the contract says. */
  default Set<Deviation> deviations() {
    return Set.of();
  }

  /**
   * Whether queue pairs are connected by what addresses say and nothing else. Where they are not,
   * one side cannot be ahead of the other, and each learns that the other is gone; that is for the
   * provider's own tests.
   */
  default boolean connectsByAddresses() {
    return true;
  }
}
