// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import dev.sluice.doctor.Platform;
import dev.sluice.rdma.transfer.ReadLatencies;
import dev.sluice.spark.locate.OtherVersions;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.apache.spark.metrics.source.Source;

/**
 * Counters as gauges of Spark's metrics system, whose sinks' threads read them. An executor has a
 * source of its own counters, the driver one of the application's sums. Their names differ, because
 * in local mode one process has both. {@code SluiceShuffle} and {@code DriverRuntime} register
 * them; Spark's metrics system keeps them until it stops.
 */
public final class MetricsSource implements Source {
  private static final String EXECUTOR = "sluice";
  private static final String APPLICATION = "sluice.application";

  private final String name;
  private final MetricRegistry registry = new MetricRegistry();
  private final Optional<LatencyMetrics> latency;

  private MetricsSource(
      String name, Map<String, LongSupplier> values, Optional<ReadLatencies> latencies) {
    this.name = name;
    this.latency =
        latencies.map(reads -> new LatencyMetrics(registry, reads.all(), reads.byPeer()));
    String version = Platform.version().orElse("unknown");
    registry.register("version", (Gauge<String>) () -> version);
    values.forEach((key, value) -> registry.register(key, (Gauge<Long>) value::getAsLong));
  }

  /** Returns the source of an executor's own counters and READ latencies. */
  public static MetricsSource of(ExecutorMetrics metrics) {
    return new MetricsSource(EXECUTOR, metrics.counters(), metrics.latencies());
  }

  /** Returns the source of the driver's sums over all executors. */
  public static MetricsSource of(ApplicationTotals totals, OtherVersions otherVersions) {
    Map<String, LongSupplier> sums = new TreeMap<>();
    sums.put("other-versions", otherVersions::count);
    ExecutorMetrics.descriptions()
        .keySet()
        .forEach(counter -> sums.put(counter, () -> totals.total(counter)));
    return new MetricsSource(APPLICATION, sums, Optional.empty());
  }

  /** Adds the latencies of new peers. Any thread calls it now and then. */
  public void refresh() {
    latency.ifPresent(LatencyMetrics::refresh);
  }

  @Override
  public String sourceName() {
    return name;
  }

  @Override
  public MetricRegistry metricRegistry() {
    return registry;
  }
}
