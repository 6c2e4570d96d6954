package dev.sluice.rdma.soft;

import dev.sluice.rdma.Records;
import dev.sluice.rdma.leak.LeakTracker;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * How a software device is opened.
 *
 * @param faults what goes wrong at its responders
 * @param port TCP port that it listens on; 0 for any
 * @param portRetries how many of the ports above that are tried where it is taken
 * @param leaks knows what is open
 */
public record SoftOptions(FaultPlan faults, int port, int portRetries, LeakTracker leaks) {

  public static final SoftOptions DEFAULT = Records.of(SoftOptions.class, new Builder());

  public SoftOptions {
    Objects.requireNonNull(faults, "faults");
    Objects.requireNonNull(leaks, "leaks");
  }

  /** These options but for what is changed, by name. */
  public SoftOptions with(Consumer<Builder> change) {
    return Records.with(SoftOptions.class, this, new Builder(), change);
  }

  /** The components, each by its name. */
  public static final class Builder {
    public FaultPlan faults = FaultPlan.NONE;
    public int port;
    public int portRetries;
    public LeakTracker leaks = LeakTracker.NONE;

    private Builder() {}
  }
}
