// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.leak.LeakTracker;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Options of a verbs device that depend on the network and not on the connection: the port to open,
 * and fields of the packets. The configuration makes them; {@link VerbsProvider} takes them.
 * Immutable.
 *
 * @param devices the ports that may be used
 * @param gid rules for the entry of the port's GID table
 * @param trafficClass GRH traffic class (on RoCE v2 the IP header's DSCP and ECN), or {@link #AUTO}
 *     for the port's own if configured, else 106 on RoCE v2 and 0 on InfiniBand
 * @param serviceLevel InfiniBand service level, 0 to 15
 * @param pKey partition key, or {@link #AUTO} for the first key with full membership of the port
 * @param pathMtu bytes, or {@link #AUTO} for the port's active MTU, which is also the maximum
 * @param hopLimit GRH hop limit
 * @param registeredBytes most bytes that this process will lock, in regions and queue pairs; 0 if
 *     unknown. Verbs are unavailable if the process may not lock this much memory.
 * @param connect the way to connect queue pairs
 * @param spreads true if the ports were configured, so that all of them reach the peers. The
 *     processes of this host then take them in turn, even with a GID of another network namespace
 *     if they have no other. Otherwise each process takes the nearest port.
 * @param leaks tracks open objects
 */
public record VerbsOptions(
    DeviceFilter devices,
    GidPolicy gid,
    int trafficClass,
    int serviceLevel,
    int pKey,
    int pathMtu,
    int hopLimit,
    long registeredBytes,
    ConnectMode connect,
    boolean spreads,
    LeakTracker leaks) {

  /** Lets the port decide. */
  public static final int AUTO = -1;

  public static final VerbsOptions DEFAULT = new Builder().build();

  public VerbsOptions {
    Objects.requireNonNull(devices, "devices");
    Objects.requireNonNull(gid, "gid");
    Objects.requireNonNull(connect, "connect");
    Objects.requireNonNull(leaks, "leaks");
    GidPolicy.checkRange("trafficClass", trafficClass, AUTO, 255);
    GidPolicy.checkRange("serviceLevel", serviceLevel, 0, 15);
    GidPolicy.checkRange("pKey", pKey, AUTO, 0xFFFF);
    GidPolicy.checkRange("pathMtu", pathMtu, AUTO, 4096);
    GidPolicy.checkRange("hopLimit", hopLimit, 1, 255);
  }

  /** A copy with changes to the named components. */
  public VerbsOptions with(Consumer<Builder> change) {
    Builder builder = new Builder(this);
    change.accept(builder);
    return builder.build();
  }

  /**
   * The components by name: each component has a field of its name here. The values are the
   * defaults.
   */
  public static final class Builder {
    public DeviceFilter devices = DeviceFilter.ANY;
    public GidPolicy gid = GidPolicy.DEFAULT;
    public int trafficClass = AUTO;
    public int serviceLevel;
    public int pKey = AUTO;
    public int pathMtu = AUTO;
    public int hopLimit = 255;
    public long registeredBytes;
    public ConnectMode connect = ConnectMode.CONTROL;
    public boolean spreads;
    public LeakTracker leaks = LeakTracker.NONE;

    private Builder() {}

    private Builder(VerbsOptions from) {
      devices = from.devices;
      gid = from.gid;
      trafficClass = from.trafficClass;
      serviceLevel = from.serviceLevel;
      pKey = from.pKey;
      pathMtu = from.pathMtu;
      hopLimit = from.hopLimit;
      registeredBytes = from.registeredBytes;
      connect = from.connect;
      spreads = from.spreads;
      leaks = from.leaks;
    }

    private VerbsOptions build() {
      return new VerbsOptions(
          devices,
          gid,
          trafficClass,
          serviceLevel,
          pKey,
          pathMtu,
          hopLimit,
          registeredBytes,
          connect,
          spreads,
          leaks);
    }
  }

  /** Ways to connect queue pairs of verbs devices. */
  public enum ConnectMode {
    /** By the parameters that peers exchange over their control channel. */
    CONTROL,
    /** By rdma_cm. The control channel only tells where to connect to. */
    CM
  }
}
