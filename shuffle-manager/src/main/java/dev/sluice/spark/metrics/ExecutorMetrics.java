package dev.sluice.spark.metrics;

import dev.sluice.blocks.RegistryCounter;
import dev.sluice.blocks.RegistryCounters;
import dev.sluice.rdma.transfer.TransferCounter;
import dev.sluice.rdma.transfer.TransferCounters;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Everything that an executor counts, by name: what {@link MetricsSource} shows to Spark's metrics
 * system, and {@link CountersReporter} tells the driver and the log. Any thread.
 */
public final class ExecutorMetrics {
  private static final Set<String> LEVELS =
      Set.of(
          name("transfer", TransferCounter.BUFFER_BYTES_IN_USE),
          name("registry", RegistryCounter.REGISTERED_BYTES),
          name("registry", RegistryCounter.REGISTERED_REGIONS),
          name("registry", RegistryCounter.REGISTERED_OUTPUTS),
          name("registry", RegistryCounter.STAGING_REGIONS),
          name("registry", RegistryCounter.STAGING_BYTES_IN_USE));

  private final Map<String, LongSupplier> counters;

  /** Of an executor without RDMA. */
  public ExecutorMetrics(ShuffleCounters shuffle) {
    counters = new TreeMap<>(shuffle.byName());
  }

  public ExecutorMetrics(
      ShuffleCounters shuffle, TransferCounters transfer, RegistryCounters registry) {
    this(shuffle);
    for (TransferCounter counter : TransferCounter.values()) {
      counters.put(name("transfer", counter), () -> transfer.get(counter));
    }
    for (RegistryCounter counter : RegistryCounter.values()) {
      counters.put(name("registry", counter), () -> registry.get(counter));
    }
  }

  /** As in {@code transfer.read-bytes}. */
  private static String name(String part, Enum<?> counter) {
    return part + "." + counter.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Whether a value says what an executor holds now, which goes with it. */
  static boolean isLevel(String name) {
    return LEVELS.contains(name);
  }

  Map<String, LongSupplier> counters() {
    return counters;
  }

  /** The values now. */
  public Map<String, Long> snapshot() {
    Map<String, Long> values = new TreeMap<>();
    counters.forEach((name, value) -> values.put(name, value.getAsLong()));
    return values;
  }

  /** Those that say what has been done so far, if anything. */
  static Map<String, Long> counted(Map<String, Long> values) {
    Map<String, Long> counted = new TreeMap<>(values);
    counted.entrySet().removeIf(entry -> entry.getValue() == 0 || isLevel(entry.getKey()));
    return counted;
  }

  /** Those that are not zero, on one line. */
  static String summary(Map<String, Long> counters) {
    return counters.entrySet().stream()
        .filter(entry -> entry.getValue() != 0)
        .map(Map.Entry::toString)
        .collect(Collectors.joining(", "));
  }
}
