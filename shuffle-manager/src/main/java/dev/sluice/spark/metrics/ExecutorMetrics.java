// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.rdma.transfer.CounterDescription;
import dev.sluice.rdma.transfer.Counters;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.ReadLatencies;
import dev.sluice.rdma.transfer.TransferCounter;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * All counters of an executor, by name, and its READ latencies and fallbacks by peer. {@link
 * MetricsSource} shows counters and latencies to Spark's metrics system. {@link CountersReporter}
 * sends all of them to the driver, and the counters to the log. The executor's runtime makes it;
 * any thread reads it. Immutable. A new counter needs a description: without one the driver has no
 * gauge of it and takes it for a total.
 */
public final class ExecutorMetrics {
  private static final Map<String, CounterDescription> DESCRIPTIONS = describe();

  private final Map<String, LongSupplier> counters;
  private final Optional<ReadLatencies> latencies;
  private final FallbacksByPeer fallbacksByPeer;

  /** Makes the counters of an executor without RDMA. */
  public ExecutorMetrics(ShuffleCounters shuffle) {
    this(shuffle, Optional.empty());
  }

  public ExecutorMetrics(
      ShuffleCounters shuffle, RdmaEndpoint endpoint, Counters<RegistryCounter> registry) {
    this(shuffle, Optional.of(endpoint.latencies()));
    counters.putAll(endpoint.counters().byName(TransferCounter::metric));
    counters.putAll(registry.byName(RegistryCounter::metric));
  }

  private ExecutorMetrics(ShuffleCounters shuffle, Optional<ReadLatencies> latencies) {
    this.counters = new TreeMap<>(shuffle.byName());
    this.latencies = latencies;
    this.fallbacksByPeer = shuffle.fallbacksByPeer();
  }

  private static Map<String, CounterDescription> describe() {
    Map<String, CounterDescription> all = new TreeMap<>(ShuffleCounters.descriptions());
    for (TransferCounter counter : TransferCounter.values()) {
      all.put(counter.metric(), counter.description());
    }
    for (RegistryCounter counter : RegistryCounter.values()) {
      all.put(counter.metric(), counter.description());
    }
    return Collections.unmodifiableMap(all);
  }

  /** Returns the descriptions of all counters that an executor may have, by name. */
  static Map<String, CounterDescription> descriptions() {
    return DESCRIPTIONS;
  }

  /** Returns true if the value is a level: a state of the executor, which ends with it. */
  static boolean isLevel(String name) {
    CounterDescription description = DESCRIPTIONS.get(name);
    return description != null && description.isLevel();
  }

  Map<String, LongSupplier> counters() {
    return counters;
  }

  /** Returns the latencies of the executor's READs; empty without RDMA. */
  Optional<ReadLatencies> latencies() {
    return latencies;
  }

  FallbacksByPeer fallbacksByPeer() {
    return fallbacksByPeer;
  }

  /** Returns the present values. */
  public Map<String, Long> snapshot() {
    Map<String, Long> values = new TreeMap<>();
    counters.forEach((name, value) -> values.put(name, value.getAsLong()));
    return values;
  }

  /** Returns the counters that are not zero, without levels. */
  static Map<String, Long> counted(Map<String, Long> values) {
    Map<String, Long> counted = new TreeMap<>(values);
    counted.entrySet().removeIf(entry -> entry.getValue() == 0 || isLevel(entry.getKey()));
    return counted;
  }

  /** Returns the values that are not zero, on one line. */
  static String summary(Map<String, Long> counters) {
    return counters.entrySet().stream()
        .filter(entry -> entry.getValue() != 0)
        .map(Map.Entry::toString)
        .collect(Collectors.joining(", "));
  }
}
