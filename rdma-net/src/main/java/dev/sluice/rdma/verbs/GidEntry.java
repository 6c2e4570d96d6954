// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.verbs.Gid;
import java.net.InetAddress;

/**
 * A valid entry of a port's GID table ({@code struct ibv_gid_entry}). {@link PortReader} makes it.
 * Immutable.
 *
 * @param index position in the table, by which queue pairs name it
 * @param gid the GID
 * @param type format of the packets that carry the GID
 * @param netDevice the network device of this process's network namespace that has the address;
 *     empty if there is none
 * @param isForeign true if the kernel names a network device for the entry, and that device belongs
 *     to another network namespace
 */
record GidEntry(int index, Gid gid, Type type, String netDevice, boolean isForeign) {

  /** {@code enum ibv_gid_type}. */
  enum Type {
    IB("InfiniBand"),
    ROCE_V1("RoCE v1"),
    ROCE_V2("RoCE v2"),
    /** Not told by the kernel, as in containers, or a type of a later release. */
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

  /** The InfiniBand subnet, from the last two bytes of the subnet prefix. */
  static int subnet(Gid gid) {
    return (int) gid.subnetPrefix() & 0xFFFF;
  }

  /**
   * The fabric's identifier for routers between InfiniBand subnets (FLID), from the two bytes of
   * the subnet prefix before the subnet; 0 without such routers.
   */
  static int fabricIdentifier(Gid gid) {
    return (int) (gid.subnetPrefix() >>> Short.SIZE) & 0xFFFF;
  }

  /** Returns true for an IPv6 address that needs no configuration and does not pass a router. */
  boolean isLinkLocal() {
    return !gid.isIpv4() && address().isLinkLocalAddress();
  }

  /** Names the entry in messages. */
  @Override
  public String toString() {
    return "index " + index + " " + gid;
  }
}
