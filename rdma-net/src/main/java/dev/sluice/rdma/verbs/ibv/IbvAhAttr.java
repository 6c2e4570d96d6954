package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.Gid;
import dev.sluice.rdma.Records;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * An address vector: {@code struct ibv_ah_attr} with its {@code struct ibv_global_route}.
 *
 * @param global whether there is a global route; RoCE always needs one
 * @param dgid the destination's GID
 * @param flowLabel 20 bits; on RoCE v2 the UDP source port comes from it
 * @param sgidIndex of our GID in the port's table
 * @param hopLimit of the global route header
 * @param trafficClass of the global route header; on RoCE v2 DSCP and ECN
 * @param dlid the destination's LID; 0 on Ethernet
 * @param serviceLevel InfiniBand service level
 * @param sourcePathBits added to our LID
 * @param staticRate of {@link IbvRate}
 * @param port our port, from 1
 */
public record IbvAhAttr(
    boolean global,
    Gid dgid,
    int flowLabel,
    int sgidIndex,
    int hopLimit,
    int trafficClass,
    int dlid,
    int serviceLevel,
    int sourcePathBits,
    int staticRate,
    int port) {

  /** All zeros. */
  public static final IbvAhAttr ZERO = Records.of(IbvAhAttr.class, new Builder());

  /** This address but for what is changed, by name. */
  public IbvAhAttr with(Consumer<Builder> change) {
    return Records.with(IbvAhAttr.class, this, new Builder(), change);
  }

  /** Fills a {@code struct ibv_ah_attr}. */
  public void write(MemorySegment struct) {
    MemorySegment route = IbvStructs.AH_ATTR.part(struct, "grh");
    IbvGidEntry.write(dgid, IbvStructs.GLOBAL_ROUTE.part(route, "dgid"));
    IbvStructs.GLOBAL_ROUTE.set(route, "flow_label", flowLabel);
    IbvStructs.GLOBAL_ROUTE.set(route, "sgid_index", sgidIndex);
    IbvStructs.GLOBAL_ROUTE.set(route, "hop_limit", hopLimit);
    IbvStructs.GLOBAL_ROUTE.set(route, "traffic_class", trafficClass);
    IbvStructs.AH_ATTR.set(struct, "dlid", dlid);
    IbvStructs.AH_ATTR.set(struct, "sl", serviceLevel);
    IbvStructs.AH_ATTR.set(struct, "src_path_bits", sourcePathBits);
    IbvStructs.AH_ATTR.set(struct, "static_rate", staticRate);
    IbvStructs.AH_ATTR.set(struct, "is_global", global ? 1 : 0);
    IbvStructs.AH_ATTR.set(struct, "port_num", port);
  }

  /** Reads a {@code struct ibv_ah_attr}. */
  public static IbvAhAttr read(MemorySegment struct) {
    MemorySegment route = IbvStructs.AH_ATTR.part(struct, "grh");
    return ZERO.with(
        ah -> {
          ah.global = IbvStructs.AH_ATTR.getInt(struct, "is_global") != 0;
          ah.dgid = IbvGidEntry.gid(IbvStructs.GLOBAL_ROUTE.part(route, "dgid"));
          ah.flowLabel = IbvStructs.GLOBAL_ROUTE.getInt(route, "flow_label");
          ah.sgidIndex = IbvStructs.GLOBAL_ROUTE.getInt(route, "sgid_index");
          ah.hopLimit = IbvStructs.GLOBAL_ROUTE.getInt(route, "hop_limit");
          ah.trafficClass = IbvStructs.GLOBAL_ROUTE.getInt(route, "traffic_class");
          ah.dlid = IbvStructs.AH_ATTR.getInt(struct, "dlid");
          ah.serviceLevel = IbvStructs.AH_ATTR.getInt(struct, "sl");
          ah.sourcePathBits = IbvStructs.AH_ATTR.getInt(struct, "src_path_bits");
          ah.staticRate = IbvStructs.AH_ATTR.getInt(struct, "static_rate");
          ah.port = IbvStructs.AH_ATTR.getInt(struct, "port_num");
        });
  }

  /** The components, each by its name. */
  public static final class Builder {
    public boolean global;
    public Gid dgid = new Gid(0, 0);
    public int flowLabel;
    public int sgidIndex;
    public int hopLimit;
    public int trafficClass;
    public int dlid;
    public int serviceLevel;
    public int sourcePathBits;
    public int staticRate;
    public int port;

    private Builder() {}
  }
}
