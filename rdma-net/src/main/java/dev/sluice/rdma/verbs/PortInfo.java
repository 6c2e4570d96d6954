package dev.sluice.rdma.verbs;

import dev.sluice.rdma.verbs.ffi.CValue;
import dev.sluice.rdma.verbs.ibv.IbvLinkLayer;
import dev.sluice.rdma.verbs.ibv.IbvMtu;
import dev.sluice.rdma.verbs.ibv.IbvPortState;
import dev.sluice.rdma.verbs.ibv.IbvTransportType;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * What is known of a device's port when one is chosen (ibv_query_port(3) and its tables).
 *
 * @param device the device's name, such as {@code mlx5_0}
 * @param number from 1 on
 * @param transport what the device's queue pairs speak
 * @param state only an ACTIVE one carries packets
 * @param linkLayer what is below
 * @param rate as sysfs states it, such as {@code 100 Gb/sec (4X EDR)}
 * @param activeMtu the largest that its link takes now
 * @param lid local identifier; 0 on Ethernet
 * @param requiresGrh its packets need a GRH within their subnet, too ({@link
 *     dev.sluice.rdma.verbs.ibv.IbvPortFlags#GRH_REQUIRED})
 * @param gids the entries of the GID table that are set
 * @param pKeys the table of partition keys; its indices are what queue pairs name them by
 * @param netDevices network devices that share the port
 * @param trafficClass what the administrator wants all packets of the port to carry
 */
record PortInfo(
    String device,
    int number,
    CValue<IbvTransportType> transport,
    CValue<IbvPortState> state,
    CValue<IbvLinkLayer> linkLayer,
    String rate,
    CValue<IbvMtu> activeMtu,
    int lid,
    boolean requiresGrh,
    List<GidEntry> gids,
    List<Integer> pKeys,
    Set<String> netDevices,
    OptionalInt trafficClass) {

  boolean isEthernet() {
    return linkLayer.is(IbvLinkLayer.ETHERNET);
  }

  /** As in configuration. */
  @Override
  public String toString() {
    return device + ":" + number;
  }
}
