package dev.sluice.rdma.verbs;

import dev.sluice.rdma.verbs.ibv.IbvMtu;

/**
 * The port that a device was opened with, and what its queue pairs use of it.
 *
 * @param port what it is
 * @param gid the entry of its GID table that peers reach it by
 * @param pKeyIndex index in its table of partition keys
 * @param trafficClass GRH traffic class
 * @param serviceLevel InfiniBand service level
 * @param pathMtu bytes at most in a packet
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

  /** Whether packets go the same way, whatever else has changed. */
  boolean isSameWay(ChosenPort other) {
    return gid.equals(other.gid)
        && pKeyIndex == other.pKeyIndex
        && port.lid() == other.port.lid()
        && pathMtu == other.pathMtu
        && trafficClass == other.trafficClass
        && port.requiresGrh() == other.port.requiresGrh();
  }

  /** All that an administrator wants to know of it, in one line. */
  String banner() {
    return "%s, %s, %s, %s, MTU %d of %d, GID %s (%s), P_Key 0x%04x, traffic class %d, service level %d"
        .formatted(
            port,
            port.state(),
            port.isEthernet() ? "Ethernet" : "InfiniBand",
            port.rate(),
            pathMtu,
            port.activeMtu().known().map(IbvMtu::bytes).orElseThrow(),
            gid,
            gid.type(),
            port.pKeys().get(pKeyIndex),
            trafficClass,
            serviceLevel);
  }
}
