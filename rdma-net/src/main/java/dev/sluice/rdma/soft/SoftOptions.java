package dev.sluice.rdma.soft;

import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.leak.LeakTracker;
import java.net.InetAddress;
import java.util.Objects;

/**
 * How a software device is opened.
 *
 * @param faults what goes wrong at its responders
 * @param bindAddress address that it listens on; null for the one that peers reach it by, or all
 *     where that one is not of this machine
 * @param port TCP port that it listens on; 0 for any
 * @param portRetries how many of the ports above that are tried where it is taken
 * @param limits what it says of itself and holds to
 * @param leaks knows what is open
 */
public record SoftOptions(
    FaultPlan faults,
    InetAddress bindAddress,
    int port,
    int portRetries,
    DeviceAttributes limits,
    LeakTracker leaks) {

  /**
   * Limits as a small NIC has them, but more READs under way: each round trip wakes threads on both
   * sides, and a READ that is under way costs no more than one that waits.
   */
  public static final DeviceAttributes SMALL_NIC =
      new DeviceAttributes(
          16_384, 16_384, 32, 16_384, 1 << 20, 1 << 20, 1L << 44, 4096, 128, 128, 1L << 30, 256);

  public static final SoftOptions DEFAULT =
      new SoftOptions(FaultPlan.NONE, null, 0, 0, SMALL_NIC, LeakTracker.counting());

  public SoftOptions {
    Objects.requireNonNull(faults, "faults");
    Objects.requireNonNull(limits, "limits");
    Objects.requireNonNull(leaks, "leaks");
  }

  public SoftOptions withFaults(FaultPlan plan) {
    return new SoftOptions(plan, bindAddress, port, portRetries, limits, leaks);
  }

  public SoftOptions withBindAddress(InetAddress address) {
    return new SoftOptions(faults, address, port, portRetries, limits, leaks);
  }

  public SoftOptions withPort(int first, int retries) {
    return new SoftOptions(faults, bindAddress, first, retries, limits, leaks);
  }

  public SoftOptions withLimits(DeviceAttributes attributes) {
    return new SoftOptions(faults, bindAddress, port, portRetries, attributes, leaks);
  }

  public SoftOptions withLeaks(LeakTracker tracker) {
    return new SoftOptions(faults, bindAddress, port, portRetries, limits, tracker);
  }
}
