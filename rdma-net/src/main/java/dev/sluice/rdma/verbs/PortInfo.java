package dev.sluice.rdma.verbs;

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
 * @param activeMtu bytes
 * @param lid local identifier; 0 on Ethernet
 * @param gids the entries of the GID table that are set
 * @param pKeys the table of partition keys; its indices are what queue pairs name them by
 * @param netDevices network devices that share the port
 * @param trafficClass what the administrator wants all packets of the port to carry
 */
record PortInfo(
    String device,
    int number,
    Transport transport,
    State state,
    LinkLayer linkLayer,
    String rate,
    int activeMtu,
    int lid,
    List<GidEntry> gids,
    List<Integer> pKeys,
    Set<String> netDevices,
    OptionalInt trafficClass) {

  /** {@code enum ibv_transport_type}, as far as it matters here. */
  enum Transport {
    /** InfiniBand's, also over Ethernet (RoCE). */
    IB,
    IWARP,
    OTHER
  }

  /** {@code enum ibv_port_state}, in its order. */
  enum State {
    NOP,
    DOWN,
    INIT,
    ARMED,
    ACTIVE,
    ACTIVE_DEFER
  }

  /** {@code IBV_LINK_LAYER_*}, in their order. */
  enum LinkLayer {
    UNSPECIFIED("InfiniBand"),
    INFINIBAND("InfiniBand"),
    ETHERNET("Ethernet");

    private final String text;

    LinkLayer(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  boolean isEthernet() {
    return linkLayer == LinkLayer.ETHERNET;
  }

  /** As in configuration. */
  @Override
  public String toString() {
    return device + ":" + number;
  }
}
