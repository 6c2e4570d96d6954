// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import dev.sluice.blocks.conf.SettingTable.Draft;
import dev.sluice.rdma.verbs.DeviceFilter;
import dev.sluice.rdma.verbs.GidPolicy;
import dev.sluice.rdma.verbs.GidPolicy.AddressRange;
import dev.sluice.rdma.verbs.GidPolicy.Family;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.rdma.verbs.VerbsOptions.ConnectMode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;

/**
 * Settings of RDMA devices and of the packets that they send. {@link ExecutorSettings} and {@code
 * NodeSettings} of node daemons each create them for their own table. Only executors know the
 * defaults that come from the environment. Immutable; any thread.
 */
public final class VerbsSettings {
  private final List<Row<?>> rows = new ArrayList<>();

  /**
   * A setting with its effect.
   *
   * @param effect sets a value in the options
   */
  private record Row<T>(Setting<T> setting, BiConsumer<VerbsOptions.Builder, T> effect) {
    void set(VerbsOptions.Builder options, UnaryOperator<String> values) {
      T value = setting.get(values);
      if (value != null) {
        effect.accept(options, value);
      }
    }
  }

  /** Adds the settings to a table. */
  public VerbsSettings(SettingTable table) {
    add(
        table.derived(
            "devices",
            new Type<>("ports such as mlx5_0:1,mlx5_1 or ^mlx5_2 or =mlx5_0", DeviceFilter::parse),
            "`NCCL_IB_HCA` or `UCX_NET_DEVICES` of the environment, else all"),
        "Ports that verbs may use, by prefixes of their devices' names. A leading `=` requires"
            + " whole names, a leading `^` excludes the ports. If this key is set, executors"
            + " spread over those of the ports that are active. They may then use a GID of"
            + " another network namespace if they have none of their own. Otherwise they prefer"
            + " the port with the executor's own address.",
        (o, devices) -> {
          o.devices = devices;
          o.spreads = true; // By naming ports a user states that all of them reach the peers.
        });

    add(
        table.derived(
            "gid.index",
            Type.autoOr(0, 65535),
            "`NCCL_IB_GID_INDEX` of the environment, else auto"),
        "Entry of the port's GID table by which peers reach it. With auto on RoCE: the entry with"
            + " the executor's own address, else the first entry that the other `gid` keys allow,"
            + " that is not link-local and that belongs to the executor's network namespace. With"
            + " auto on InfiniBand: 0, or 1 if that entry is routable.",
        (o, index) -> o.gid = o.gid.at(index));

    add(
        table.with("gid.roceVersion", Type.integer(1, 2), "2"),
        "RoCE version that a GID must have.",
        (o, version) ->
            o.gid = new GidPolicy(o.gid.index(), version, o.gid.family(), o.gid.range()));

    add(
        table.with("gid.addrFamily", Type.constantOf(Family.class), "auto"),
        "Family of the address in a RoCE GID; auto prefers IPv4 to IPv6.",
        (o, family) ->
            o.gid = new GidPolicy(o.gid.index(), o.gid.roceVersion(), family, o.gid.range()));

    add(
        table.derived(
            "gid.addrRange",
            new Type<>("addresses such as 10.1.0.0/16", AddressRange::parse),
            "none"),
        "Range in which the address of a RoCE GID must lie.",
        (o, range) ->
            o.gid = new GidPolicy(o.gid.index(), o.gid.roceVersion(), o.gid.family(), range));

    add(
        table.derived(
            "trafficClass", Type.autoOr(0, 255), "`NCCL_IB_TC` of the environment, else auto"),
        "Traffic class of packets; on RoCE v2, their DSCP and ECN. With auto: the value that the"
            + " administrator has set for the port, else 106 on RoCE v2 and 0 on InfiniBand.",
        (o, trafficClass) -> o.trafficClass = trafficClass);

    add(
        table.derived(
            "serviceLevel", Type.integer(0, 15), "`NCCL_IB_SL` of the environment, else `0`"),
        "InfiniBand service level.",
        (o, level) -> o.serviceLevel = level);

    add(
        table.with("pkey", Type.autoOr(1, 0xFFFF), "auto"),
        "Partition key, such as 0x8001; auto takes the first one of which the port is a full"
            + " member.",
        (o, pKey) -> o.pKey = pKey);

    add(
        table.with("pathMtu", Type.autoOrOneOf(256, 512, 1024, 2048, 4096), "auto"),
        "Limit of the bytes of a packet; auto is the port's active MTU. Two peers use the smaller"
            + " one of their values.",
        (o, bytes) -> o.pathMtu = bytes);

    add(
        table.with("hopLimit", Type.integer(1, 255), "255"),
        "Limit of the routers that a packet may pass.",
        (o, routers) -> o.hopLimit = routers);

    add(
        table.with("connect", Type.constantOf(ConnectMode.class), "control"),
        "How verbs connect queue pairs. With control, executors exchange addresses over Spark's"
            + " transport. With cm, rdma_cm finds the path to a peer and notices its end.",
        (o, mode) -> o.connect = mode);
  }

  private <T> void add(Draft<T> draft, String doc, BiConsumer<VerbsOptions.Builder, T> effect) {
    rows.add(new Row<>(draft.doc(doc), effect));
  }

  /**
   * Returns options with the values that are set, and the defaults that are not derived.
   *
   * @param values returns the text that is set for a key; null if none is
   * @throws IllegalArgumentException for a value that is not allowed
   */
  public VerbsOptions configure(VerbsOptions options, UnaryOperator<String> values) {
    return options.with(o -> rows.forEach(row -> row.set(o, values)));
  }

  /** Returns the settings in the order of the documents. */
  public List<Setting<?>> settings() {
    return rows.stream().<Setting<?>>map(Row::setting).toList();
  }
}
