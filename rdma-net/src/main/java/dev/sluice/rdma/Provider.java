// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import dev.sluice.verbs.ProviderUnavailableException;
import java.io.IOException;
import java.net.InetAddress;

/**
 * An implementation of RDMA: hardware verbs, or software with the same semantics. {@link
 * dev.sluice.rdma.providers.Providers} chooses one. Any thread; nothing to close.
 */
public interface Provider {
  /** {@code verbs} or {@code soft}. Peers connect only if their providers have the same name. */
  String name();

  /**
   * Opens the device.
   *
   * @param localAddress the address at which peers reach this process; a verbs provider prefers the
   *     port that has it
   * @throws ProviderUnavailableException if it cannot work on this machine, with the reason
   */
  Device open(InetAddress localAddress) throws IOException;
}
