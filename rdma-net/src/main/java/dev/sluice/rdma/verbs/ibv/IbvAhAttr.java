package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.Gid;
import java.lang.foreign.MemorySegment;

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

  /** The address of a RoCE peer, or of an InfiniBand one in another subnet. */
  public static IbvAhAttr global(Gid dgid, int sgidIndex, int hopLimit, int port) {
    return new IbvAhAttr(true, dgid, 0, sgidIndex, hopLimit, 0, 0, 0, 0, 0, port);
  }

  /** The address of a peer in the same InfiniBand subnet. */
  public static IbvAhAttr local(int dlid, int port) {
    return new IbvAhAttr(false, new Gid(0, 0), 0, 0, 0, 0, dlid, 0, 0, 0, port);
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
    return new IbvAhAttr(
        IbvStructs.AH_ATTR.getInt(struct, "is_global") != 0,
        IbvGidEntry.gid(IbvStructs.GLOBAL_ROUTE.part(route, "dgid")),
        IbvStructs.GLOBAL_ROUTE.getInt(route, "flow_label"),
        IbvStructs.GLOBAL_ROUTE.getInt(route, "sgid_index"),
        IbvStructs.GLOBAL_ROUTE.getInt(route, "hop_limit"),
        IbvStructs.GLOBAL_ROUTE.getInt(route, "traffic_class"),
        IbvStructs.AH_ATTR.getInt(struct, "dlid"),
        IbvStructs.AH_ATTR.getInt(struct, "sl"),
        IbvStructs.AH_ATTR.getInt(struct, "src_path_bits"),
        IbvStructs.AH_ATTR.getInt(struct, "static_rate"),
        IbvStructs.AH_ATTR.getInt(struct, "port_num"));
  }
}
