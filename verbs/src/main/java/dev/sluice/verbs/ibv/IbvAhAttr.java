// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.Gid;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CConstant;
import dev.sluice.verbs.ffi.CValue;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * An address vector: {@code struct ibv_ah_attr} with its {@code struct ibv_global_route}
 * (ibv_create_ah(3), ibv_modify_qp(3)). Immutable. A new component needs a field of the {@link
 * Builder}, and a line in {@link #write} and {@link #read}.
 *
 * @param global true if there is a global route; RoCE always needs one
 * @param dgid the destination's GID
 * @param flowLabel 20 bits; RoCE v2 derives the UDP source port from it
 * @param sgidIndex index of the local GID in the port's table
 * @param hopLimit hop limit of the global route header
 * @param trafficClass traffic class of the global route header; DSCP and ECN on RoCE v2
 * @param dlid the destination's LID; 0 on Ethernet
 * @param serviceLevel InfiniBand service level
 * @param sourcePathBits bits added to the local LID
 * @param staticRate value of {@link Rate}
 * @param port local port, from 1
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

  /** Static rates of an address vector ({@code enum ibv_rate}). */
  public enum Rate implements CConstant {
    RATE_MAX(0),
    RATE_2_5_GBPS(2),
    RATE_5_GBPS(5),
    RATE_10_GBPS(3),
    RATE_20_GBPS(6),
    RATE_30_GBPS(4),
    RATE_40_GBPS(7),
    RATE_60_GBPS(8),
    RATE_80_GBPS(9),
    RATE_120_GBPS(10),
    RATE_14_GBPS(11),
    RATE_56_GBPS(12),
    RATE_112_GBPS(13),
    RATE_168_GBPS(14),
    RATE_25_GBPS(15),
    RATE_100_GBPS(16),
    RATE_200_GBPS(17),
    RATE_300_GBPS(18),
    RATE_28_GBPS(19),
    RATE_50_GBPS(20),
    RATE_400_GBPS(21),
    RATE_600_GBPS(22),
    RATE_800_GBPS(23),
    RATE_1200_GBPS(24);

    private final int value;

    Rate(int value) {
      this.value = value;
    }

    @Override
    public int value() {
      return value;
    }

    /** Returns the rate in Mb/s (ibv_rate_to_mbps(3)); -1 if the library does not know the rate. */
    public int mbps() throws VerbsException {
      return LibIbverbs.RATE_TO_MBPS.call(value);
    }

    /**
     * Returns the rate in units of 2.5 Gb/s (ibv_rate_to_mult(3)), some of them rounded; -1 if the
     * library lists none for it.
     */
    public int mult() throws VerbsException {
      return LibIbverbs.RATE_TO_MULT.call(value);
    }

    /** Returns the rate for a number of Mb/s (mbps_to_ibv_rate(3)); RATE_MAX if there is none. */
    public static CValue<Rate> ofMbps(int mbps) throws VerbsException {
      return new CValue<>(Rate.class, LibIbverbs.MBPS_TO_RATE.call(mbps));
    }

    /** Returns the rate of a multiple of 2.5 Gb/s (mult_to_ibv_rate(3)); RATE_MAX if none fits. */
    public static CValue<Rate> ofMult(int mult) throws VerbsException {
      return new CValue<>(Rate.class, LibIbverbs.MULT_TO_RATE.call(mult));
    }
  }

  /** An address vector of zeros. */
  public static final IbvAhAttr ZERO = new Builder().build();

  /** Returns a copy of this address vector with the named components changed. */
  public IbvAhAttr with(Consumer<Builder> change) {
    Builder builder = new Builder(this);
    change.accept(builder);
    return builder.build();
  }

  /** Fills a {@code struct ibv_ah_attr}. */
  public void write(MemorySegment struct) {
    IbvGidEntry.write(dgid, IbvStructs.AH_ATTR.part(struct, "grh.dgid"));
    IbvStructs.AH_ATTR.set(struct, "grh.flow_label", flowLabel);
    IbvStructs.AH_ATTR.set(struct, "grh.sgid_index", sgidIndex);
    IbvStructs.AH_ATTR.set(struct, "grh.hop_limit", hopLimit);
    IbvStructs.AH_ATTR.set(struct, "grh.traffic_class", trafficClass);
    IbvStructs.AH_ATTR.set(struct, "dlid", dlid);
    IbvStructs.AH_ATTR.set(struct, "sl", serviceLevel);
    IbvStructs.AH_ATTR.set(struct, "src_path_bits", sourcePathBits);
    IbvStructs.AH_ATTR.set(struct, "static_rate", staticRate);
    IbvStructs.AH_ATTR.set(struct, "is_global", global ? 1 : 0);
    IbvStructs.AH_ATTR.set(struct, "port_num", port);
  }

  /** Reads a {@code struct ibv_ah_attr}. */
  public static IbvAhAttr read(MemorySegment struct) {
    return ZERO.with(
        ah -> {
          ah.global = IbvStructs.AH_ATTR.getInt(struct, "is_global") != 0;
          ah.dgid = IbvGidEntry.gid(IbvStructs.AH_ATTR.part(struct, "grh.dgid"));
          ah.flowLabel = IbvStructs.AH_ATTR.getInt(struct, "grh.flow_label");
          ah.sgidIndex = IbvStructs.AH_ATTR.getInt(struct, "grh.sgid_index");
          ah.hopLimit = IbvStructs.AH_ATTR.getInt(struct, "grh.hop_limit");
          ah.trafficClass = IbvStructs.AH_ATTR.getInt(struct, "grh.traffic_class");
          ah.dlid = IbvStructs.AH_ATTR.getInt(struct, "dlid");
          ah.serviceLevel = IbvStructs.AH_ATTR.getInt(struct, "sl");
          ah.sourcePathBits = IbvStructs.AH_ATTR.getInt(struct, "src_path_bits");
          ah.staticRate = IbvStructs.AH_ATTR.getInt(struct, "static_rate");
          ah.port = IbvStructs.AH_ATTR.getInt(struct, "port_num");
        });
  }

  /** Mutable components, under the names of the record's components. */
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

    private Builder(IbvAhAttr from) {
      global = from.global;
      dgid = from.dgid;
      flowLabel = from.flowLabel;
      sgidIndex = from.sgidIndex;
      hopLimit = from.hopLimit;
      trafficClass = from.trafficClass;
      dlid = from.dlid;
      serviceLevel = from.serviceLevel;
      sourcePathBits = from.sourcePathBits;
      staticRate = from.staticRate;
      port = from.port;
    }

    private IbvAhAttr build() {
      return new IbvAhAttr(
          global,
          dgid,
          flowLabel,
          sgidIndex,
          hopLimit,
          trafficClass,
          dlid,
          serviceLevel,
          sourcePathBits,
          staticRate,
          port);
    }
  }
}
