// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import dev.sluice.rdma.verbs.DeviceFilter;
import dev.sluice.rdma.verbs.GidPolicy;
import dev.sluice.rdma.verbs.GidPolicy.AddressRange;
import dev.sluice.rdma.verbs.GidPolicy.Family;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.rdma.verbs.VerbsOptions.ConnectMode;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * A setting of RDMA devices or of the packets that they send. Executors and node daemons have the
 * same ones, after prefixes of their own. A new one belongs in {@link #ALL}, too.
 *
 * @param name end of the key
 * @param type allowed values
 * @param change effect of a value on the options
 */
public record VerbsSetting<T>(
    String name, Type<T> type, BiConsumer<VerbsOptions.Builder, T> change) {

  /** Ports to use. By naming ports a user states that all of them reach the peers. */
  public static final VerbsSetting<DeviceFilter> DEVICES =
      new VerbsSetting<>(
          "devices",
          new Type<>("ports such as mlx5_0:1,mlx5_1 or ^mlx5_2 or =mlx5_0", DeviceFilter::parse),
          (o, devices) -> {
            o.devices = devices;
            o.spreads = true;
          });

  public static final VerbsSetting<Integer> GID_INDEX =
      new VerbsSetting<>(
          "gid.index", Type.autoOr(0, 65535), (o, index) -> o.gid = o.gid.at(index));

  public static final VerbsSetting<Integer> GID_ROCE_VERSION =
      new VerbsSetting<>(
          "gid.roceVersion",
          Type.integer(1, 2),
          (o, version) ->
              o.gid = new GidPolicy(o.gid.index(), version, o.gid.family(), o.gid.range()));

  public static final VerbsSetting<Family> GID_ADDR_FAMILY =
      new VerbsSetting<>(
          "gid.addrFamily",
          Type.constantOf(Family.class),
          (o, family) ->
              o.gid = new GidPolicy(o.gid.index(), o.gid.roceVersion(), family, o.gid.range()));

  public static final VerbsSetting<AddressRange> GID_ADDR_RANGE =
      new VerbsSetting<>(
          "gid.addrRange",
          new Type<>("addresses such as 10.1.0.0/16", AddressRange::parse),
          (o, range) ->
              o.gid = new GidPolicy(o.gid.index(), o.gid.roceVersion(), o.gid.family(), range));

  public static final VerbsSetting<Integer> TRAFFIC_CLASS =
      new VerbsSetting<>(
          "trafficClass", Type.autoOr(0, 255), (o, value) -> o.trafficClass = value);

  public static final VerbsSetting<Integer> SERVICE_LEVEL =
      new VerbsSetting<>(
          "serviceLevel", Type.integer(0, 15), (o, value) -> o.serviceLevel = value);

  public static final VerbsSetting<Integer> PKEY =
      new VerbsSetting<>("pkey", Type.autoOr(1, 0xFFFF), (o, value) -> o.pKey = value);

  public static final VerbsSetting<Integer> PATH_MTU =
      new VerbsSetting<>(
          "pathMtu",
          Type.autoOrOneOf(256, 512, 1024, 2048, 4096),
          (o, value) -> o.pathMtu = value);

  public static final VerbsSetting<Integer> HOP_LIMIT =
      new VerbsSetting<>("hopLimit", Type.integer(1, 255), (o, value) -> o.hopLimit = value);

  public static final VerbsSetting<ConnectMode> CONNECT =
      new VerbsSetting<>(
          "connect", Type.constantOf(ConnectMode.class), (o, value) -> o.connect = value);

  private static final List<VerbsSetting<?>> ALL =
      List.of(
          DEVICES,
          GID_INDEX,
          GID_ROCE_VERSION,
          GID_ADDR_FAMILY,
          GID_ADDR_RANGE,
          TRAFFIC_CLASS,
          SERVICE_LEVEL,
          PKEY,
          PATH_MTU,
          HOP_LIMIT,
          CONNECT);

  public static List<VerbsSetting<?>> all() {
    return ALL;
  }

  /**
   * Returns the options with the configured values set.
   *
   * @param prefix prefix of the keys
   * @param values returns the value of a key; empty if the key is not set
   * @throws IllegalArgumentException for a value that is not allowed
   */
  public static VerbsOptions configured(
      VerbsOptions options, String prefix, Function<String, Optional<String>> values) {
    return options.with(o -> ALL.forEach(setting -> setting.set(o, prefix, values)));
  }

  private void set(
      VerbsOptions.Builder options, String prefix, Function<String, Optional<String>> values) {
    String key = prefix + name;
    values
        .apply(key)
        .map(text -> type.parse(key, text))
        .ifPresent(value -> change.accept(options, value));
  }
}
