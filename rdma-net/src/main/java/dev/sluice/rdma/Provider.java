package dev.sluice.rdma;

import java.io.IOException;
import java.net.InetAddress;

/** A way to do RDMA: hardware verbs, or software with the same semantics. */
public interface Provider {
  /** {@code verbs} or {@code soft}: providers of two peers match by this name. */
  String name();

  /**
   * Opens the device.
   *
   * @param localAddress the address by which peers reach this process; a verbs provider prefers the
   *     port that carries it
   * @throws ProviderUnavailableException when this machine cannot, with the reason
   */
  Device open(InetAddress localAddress) throws IOException;
}
