package dev.sluice.spark.conf;

import dev.sluice.rdma.verbs.DeviceFilter;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.SparkConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What other RDMA software's environment variables say, for keys that are not set: clusters have
 * them already. A variable that cannot be understood is left alone with a WARN, as it is not ours.
 */
final class EnvironmentHints {
  private static final Logger LOG = LoggerFactory.getLogger(EnvironmentHints.class);

  /**
   * A variable.
   *
   * @param parser throws IllegalArgumentException for what it does not understand; null for a value
   *     that says nothing
   */
  record Hint<T>(String variable, Function<String, T> parser) {}

  static final Hint<DeviceFilter> NCCL_IB_HCA = new Hint<>("NCCL_IB_HCA", DeviceFilter::parse);

  /** Its names are whole ones. */
  static final Hint<DeviceFilter> UCX_NET_DEVICES =
      new Hint<>(
          "UCX_NET_DEVICES", text -> text.equals("all") ? null : DeviceFilter.parse("=" + text));

  static final Hint<Integer> NCCL_IB_GID_INDEX = number("NCCL_IB_GID_INDEX", 65535);
  static final Hint<Integer> NCCL_IB_TC = number("NCCL_IB_TC", 255);
  static final Hint<Integer> NCCL_IB_SL = number("NCCL_IB_SL", 15);

  private final SparkConf conf;
  private final Map<String, String> environment;

  EnvironmentHints(SparkConf conf, Map<String, String> environment) {
    this.conf = conf;
    this.environment = environment;
  }

  /** The setting if it is set, else the first hint that there is, else the default. */
  @SafeVarargs
  final <T> T or(Setting<T> setting, T defaultValue, Hint<T>... hints) {
    T value = setting.get(conf);
    if (value != null) {
      return value;
    }
    for (Hint<T> hint : hints) {
      T hinted = get(hint, setting);
      if (hinted != null) {
        return hinted;
      }
    }
    return defaultValue;
  }

  private <T> T get(Hint<T> hint, Setting<T> setting) {
    String text = environment.getOrDefault(hint.variable(), "").strip();
    if (text.isEmpty()) {
      return null;
    }
    try {
      T value = hint.parser().apply(text);
      if (value != null) {
        LOG.info("{} is {}, from {} of the environment", setting.key(), text, hint.variable());
      }
      return value;
    } catch (IllegalArgumentException e) {
      LOG.warn("{}={} of the environment is not used: {}", hint.variable(), text, e.getMessage());
      return null;
    }
  }

  /** A number; a negative one leaves the choice to the software. */
  private static Hint<Integer> number(String variable, int most) {
    return new Hint<>(
        variable,
        text -> {
          int value = Integer.decode(text);
          if (value > most) {
            throw new IllegalArgumentException("it is at most " + most);
          }
          return value < 0 ? null : value;
        });
  }
}
