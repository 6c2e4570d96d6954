package dev.sluice.rdma.soft;

import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.leak.LeakTracker;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * How a software device is opened.
 *
 * @param faults what goes wrong at its responders
 * @param port TCP port that it listens on; 0 for any
 * @param portRetries how many of the ports above that are tried where it is taken
 * @param limits what it says of itself and holds to
 * @param leaks knows what is open
 */
public record SoftOptions(
    FaultPlan faults, int port, int portRetries, DeviceAttributes limits, LeakTracker leaks) {

  /**
   * Limits as a small NIC has them, but more READs under way: each round trip wakes threads on both
   * sides, and a READ that is under way costs no more than one that waits.
   */
  public static final DeviceAttributes SMALL_NIC =
      DeviceAttributes.NONE.with(
          nic -> {
            nic.maxQueuePairs = 16_384;
            nic.maxQueuePairWr = 16_384;
            nic.maxCompletionQueues = 16_384;
            nic.maxCompletionQueueEntries = 1 << 20;
            nic.maxMemoryRegions = 1 << 20;
            nic.maxMemoryRegionSize = 1L << 44;
            nic.maxProtectionDomains = 4096;
            nic.maxQueuePairRdAtomic = 128;
            nic.maxQueuePairInitRdAtomic = 128;
            nic.maxMessageSize = 1L << 30;
          });

  public static final SoftOptions DEFAULT = new Builder().build();

  public SoftOptions {
    Objects.requireNonNull(faults, "faults");
    Objects.requireNonNull(limits, "limits");
    Objects.requireNonNull(leaks, "leaks");
  }

  /** These options but for what is changed, by name. */
  public SoftOptions with(Consumer<Builder> change) {
    Builder builder = new Builder(this);
    change.accept(builder);
    return builder.build();
  }

  /** The components, each by its name. */
  public static final class Builder {
    public FaultPlan faults = FaultPlan.NONE;
    public int port;
    public int portRetries;
    public DeviceAttributes limits = SMALL_NIC;
    public LeakTracker leaks = LeakTracker.NONE;

    private Builder() {}

    private Builder(SoftOptions from) {
      faults = from.faults;
      port = from.port;
      portRetries = from.portRetries;
      limits = from.limits;
      leaks = from.leaks;
    }

    private SoftOptions build() {
      return new SoftOptions(faults, port, portRetries, limits, leaks);
    }
  }
}
