package dev.sluice.rdma.verbs;

import dev.sluice.rdma.Gid;
import java.net.InetAddress;

/**
 * An entry of a port's GID table that is set ({@code struct ibv_gid_entry}).
 *
 * @param index in the table, by which queue pairs name it
 * @param gid the GID
 * @param type how packets are formed that carry it
 * @param netDevice the network device that the address is of; empty where there is none
 */
record GidEntry(int index, Gid gid, Type type, String netDevice) {

  /** {@code enum ibv_gid_type}. */
  enum Type {
    IB("InfiniBand"),
    ROCE_V1("RoCE v1"),
    ROCE_V2("RoCE v2"),
    /** In containers the kernel does not say what it is; or it is one of a later release. */
    UNREADABLE("of a type that cannot be read");

    private final String text;

    Type(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  InetAddress address() {
    return gid.toInetAddress();
  }

  /** The InfiniBand subnet, in the subnet prefix's last two bytes. */
  static int subnet(Gid gid) {
    return (int) gid.subnetPrefix() & 0xFFFF;
  }

  /**
   * What routers between InfiniBand subnets know a fabric by (FLID), in the two bytes of the subnet
   * prefix before the subnet; 0 where there are no routers.
   */
  static int fabricIdentifier(Gid gid) {
    return (int) (gid.subnetPrefix() >>> Short.SIZE) & 0xFFFF;
  }

  /** An IPv6 address that needs no configuration, and leads no further than the next router. */
  boolean isLinkLocal() {
    return !gid.isIpv4() && address().isLinkLocalAddress();
  }

  /** Says in messages which entry it is. */
  @Override
  public String toString() {
    return "index " + index + " " + gid;
  }
}
