// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.Provider;
import java.io.IOException;
import java.net.InetAddress;

/**
 * RDMA in software over TCP, with the semantics of a NIC. Works on every machine. Any thread; the
 * caller of {@link #open} closes the device.
 */
public final class SoftProvider implements Provider {
  public static final String NAME = "soft";

  private final SoftOptions options;

  public SoftProvider(SoftOptions options) {
    this.options = options;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Device open(InetAddress localAddress) throws IOException {
    return new SoftDevice(localAddress, options);
  }
}
