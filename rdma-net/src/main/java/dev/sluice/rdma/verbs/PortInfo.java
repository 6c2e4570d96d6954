// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.verbs.ffi.CValue;
import dev.sluice.verbs.ibv.IbvDevice;
import dev.sluice.verbs.ibv.IbvPortAttr;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Attributes of a device's port from which one is chosen (ibv_query_port(3) and its tables).
 *
 * @param device the device's name, such as {@code mlx5_0}
 * @param number from 1 on
 * @param transport protocol of the device's queue pairs
 * @param state only an ACTIVE port carries packets
 * @param linkLayer InfiniBand or Ethernet
 * @param rate as sysfs gives it, such as {@code 100 Gb/sec (4X EDR)}
 * @param activeMtu the largest MTU that its link allows now
 * @param lid local identifier; 0 on Ethernet
 * @param requiresGrh true if packets need a GRH even within their subnet ({@link
 *     dev.sluice.verbs.ibv.IbvPortAttr.Flags#GRH_REQUIRED})
 * @param gids the valid entries of the GID table
 * @param pKeys the table of partition keys; queue pairs name them by their index
 * @param netDevices network devices that share the port
 * @param trafficClass traffic class that the administrator configured for all packets of the port
 */
record PortInfo(
    String device,
    int number,
    CValue<IbvDevice.TransportType> transport,
    CValue<IbvPortAttr.State> state,
    CValue<IbvPortAttr.LinkLayer> linkLayer,
    String rate,
    CValue<IbvPortAttr.Mtu> activeMtu,
    int lid,
    boolean requiresGrh,
    List<GidEntry> gids,
    List<Integer> pKeys,
    Set<String> netDevices,
    OptionalInt trafficClass) {

  boolean isEthernet() {
    return linkLayer.is(IbvPortAttr.LinkLayer.ETHERNET);
  }

  /** The form that is used in configuration. */
  @Override
  public String toString() {
    return device + ":" + number;
  }
}
