// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.Provider;
import dev.sluice.rdma.leak.LeakTracker;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * RDMA in software over TCP, with the semantics of a NIC. Works on every machine. {@code Providers}
 * and the doctor create it. Any thread; the caller of {@link #open} closes the device.
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

  /**
   * Options for opening a software device. The configuration makes them, {@link SoftProvider}
   * passes them to each device that it opens. Immutable.
   *
   * @param faults that the device's responders inject
   * @param port TCP port to listen on; 0 for any
   * @param portRetries number of following ports to try if this one is in use
   * @param maxDiskReadMs maximum time of one read of a registered file, before its disk counts as
   *     hanging. An initiator waits for 8.6 s by default.
   * @param leaks tracks open objects
   */
  public record SoftOptions(
      FaultPlan faults, int port, int portRetries, int maxDiskReadMs, LeakTracker leaks) {

    public static final SoftOptions DEFAULT = new Builder().build();

    public SoftOptions {
      Objects.requireNonNull(faults, "faults");
      Objects.requireNonNull(leaks, "leaks");
    }

    /** A copy with changes to the named components. */
    public SoftOptions with(Consumer<Builder> change) {
      Builder builder = new Builder(this);
      change.accept(builder);
      return builder.build();
    }

    /**
     * The components by name: each component has a field of its name here. The values are the
     * defaults.
     */
    public static final class Builder {
      public FaultPlan faults = FaultPlan.NONE;
      public int port;
      public int portRetries;
      public int maxDiskReadMs = 3_000;
      public LeakTracker leaks = LeakTracker.NONE;

      private Builder() {}

      private Builder(SoftOptions from) {
        faults = from.faults;
        port = from.port;
        portRetries = from.portRetries;
        maxDiskReadMs = from.maxDiskReadMs;
        leaks = from.leaks;
      }

      private SoftOptions build() {
        return new SoftOptions(faults, port, portRetries, maxDiskReadMs, leaks);
      }
    }
  }
}
