package dev.sluice.rdma.verbs;

import dev.sluice.rdma.Records;
import dev.sluice.rdma.leak.LeakTracker;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Which port a verbs device is opened with, and what its queue pairs' packets carry: what depends
 * on the network and not on the connection.
 *
 * @param devices the ports that may be used
 * @param gid which entry of the port's GID table
 * @param trafficClass GRH traffic class (on RoCE v2 the IP header's DSCP and ECN), or {@link #AUTO}
 *     for the port's own, where it has one, else 106 on RoCE v2 and 0 on InfiniBand
 * @param serviceLevel InfiniBand service level, 0 to 15
 * @param pKey partition key, or {@link #AUTO} for the first of which the port is a full member
 * @param pathMtu bytes, or {@link #AUTO} for the port's active MTU, beyond which it never goes
 * @param hopLimit GRH hop limit
 * @param registeredBytes what this process will lock at most, in regions and queue pairs: where it
 *     may not lock so much memory, verbs are unavailable; 0 where that is not known
 * @param connect how queue pairs are connected
 * @param spreads whether the processes of this host take the ports in turn, all of which must reach
 *     their peers; else each takes the nearest one
 * @param leaks knows what is open
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

  public static final VerbsOptions DEFAULT = Records.of(VerbsOptions.class, new Builder());

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

  /** These options but for what is changed, by name. */
  public VerbsOptions with(Consumer<Builder> change) {
    return Records.with(VerbsOptions.class, this, new Builder(), change);
  }

  /** The components, each by its name. */
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
  }
}
