// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import dev.sluice.rdma.verbs.DeviceFilter;
import dev.sluice.rdma.verbs.VerbsOptions;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Values of other RDMA software's environment variables for keys that are not set: clusters have
 * these variables already. A variable that cannot be parsed is ignored with a WARN, as it is not
 * ours. {@link ExecutorConf} makes one. Immutable; any thread.
 */
public final class EnvironmentHints {
  private static final Logger LOG = LoggerFactory.getLogger(EnvironmentHints.class);

  private static final String PREFIX = ExecutorSettings.PREFIX;
  private static final String DEVICES = PREFIX + "devices";

  /**
   * A variable.
   *
   * @param key our key that it stands for
   * @param parser throws IllegalArgumentException for a value that it does not understand; returns
   *     null for a value without meaning
   */
  record Hint<T>(String variable, String key, Function<String, T> parser) {}

  static final Hint<DeviceFilter> NCCL_IB_HCA =
      new Hint<>("NCCL_IB_HCA", DEVICES, DeviceFilter::parse);

  /** Its names are whole device names. */
  static final Hint<DeviceFilter> UCX_NET_DEVICES =
      new Hint<>(
          "UCX_NET_DEVICES",
          DEVICES,
          text -> text.equals("all") ? null : DeviceFilter.parse("=" + text));

  static final Hint<Integer> NCCL_IB_GID_INDEX =
      number("NCCL_IB_GID_INDEX", PREFIX + "gid.index", 65535);
  static final Hint<Integer> NCCL_IB_TC = number("NCCL_IB_TC", PREFIX + "trafficClass", 255);
  static final Hint<Integer> NCCL_IB_SL = number("NCCL_IB_SL", PREFIX + "serviceLevel", 15);

  private final Map<String, String> environment;
  private final Predicate<String> isSet;

  /**
   * @param isSet returns true for our keys that are set themselves
   */
  public EnvironmentHints(Map<String, String> environment, Predicate<String> isSet) {
    this.environment = environment;
    this.isSet = isSet;
  }

  /** Returns the options of verbs according to variables whose keys are not set. */
  public VerbsOptions verbsOptions() {
    return VerbsOptions.DEFAULT.with(
        o -> {
          first(List.of(NCCL_IB_HCA, UCX_NET_DEVICES)).ifPresent(devices -> o.devices = devices);
          first(List.of(NCCL_IB_GID_INDEX)).ifPresent(index -> o.gid = o.gid.at(index));
          first(List.of(NCCL_IB_TC)).ifPresent(trafficClass -> o.trafficClass = trafficClass);
          first(List.of(NCCL_IB_SL)).ifPresent(serviceLevel -> o.serviceLevel = serviceLevel);
        });
  }

  /** Returns the value of the first hint that has one. */
  private <T> Optional<T> first(List<Hint<T>> hints) {
    return hints.stream().map(this::get).filter(Objects::nonNull).findFirst();
  }

  private <T> @Nullable T get(Hint<T> hint) {
    String text = environment.getOrDefault(hint.variable(), "").strip();
    if (text.isEmpty() || isSet.test(hint.key())) {
      return null;
    }
    try {
      T value = hint.parser().apply(text);
      if (value != null) {
        LOG.info("{} is {}, set by environment variable {}", hint.key(), text, hint.variable());
      }
      return value;
    } catch (IllegalArgumentException e) {
      LOG.warn("Ignoring environment variable {}={}: {}", hint.variable(), text, e.getMessage());
      return null;
    }
  }

  /** Makes the hint for a number. A negative number leaves the choice to the software. */
  private static Hint<Integer> number(String variable, String key, int most) {
    return new Hint<>(
        variable,
        key,
        text -> {
          int value = Integer.decode(text);
          if (value > most) {
            throw new IllegalArgumentException("the largest allowed value is " + most);
          }
          return value < 0 ? null : value;
        });
  }
}
