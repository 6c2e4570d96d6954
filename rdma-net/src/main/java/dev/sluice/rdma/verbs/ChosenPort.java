// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.verbs.ibv.IbvPortAttr;

/**
 * The port that a device was opened with, and the values that its queue pairs use.
 *
 * @param port the port as it was read when it was chosen
 * @param gid the entry of its GID table by which peers reach it
 * @param pKeyIndex index in its table of partition keys
 * @param trafficClass GRH traffic class
 * @param serviceLevel InfiniBand service level
 * @param pathMtu maximum bytes in a packet
 * @param hopLimit GRH hop limit
 */
record ChosenPort(
    PortInfo port,
    GidEntry gid,
    int pKeyIndex,
    int trafficClass,
    int serviceLevel,
    int pathMtu,
    int hopLimit) {

  /** Returns true if packets take the same way; other attributes may differ. */
  boolean isSameWay(ChosenPort other) {
    return gid.equals(other.gid)
        && pKeyIndex == other.pKeyIndex
        && port.lid() == other.port.lid()
        && pathMtu == other.pathMtu
        && trafficClass == other.trafficClass
        && port.requiresGrh() == other.port.requiresGrh();
  }

  /** Everything that an administrator wants to know about the port, in one line. */
  String banner() {
    return "%s, %s, %s, %s, MTU %d of %d, GID %s (%s), P_Key 0x%04x, traffic class %d, service level %d"
        .formatted(
            port,
            port.state(),
            port.isEthernet() ? "Ethernet" : "InfiniBand",
            port.rate(),
            pathMtu,
            port.activeMtu().known().map(IbvPortAttr.Mtu::bytes).orElseThrow(),
            gid,
            gid.type(),
            port.pKeys().get(pKeyIndex),
            trafficClass,
            serviceLevel);
  }
}
