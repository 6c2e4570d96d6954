// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import dev.sluice.doctor.Platform;
import dev.sluice.rdma.transfer.LatencySnapshot;
import dev.sluice.spark.locate.OtherVersions;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.spark.metrics.source.Source;

/**
 * Counters as gauges, and READ latencies as histograms, of Spark's metrics system, whose sinks'
 * threads read them. An executor has a source of its own counters, the driver one of the
 * application's sums. Their names differ, because in local mode one process has both. {@code
 * SluiceShuffle} and {@code DriverRuntime} register them; Spark's metrics system keeps them until
 * it stops.
 */
public final class MetricsSource implements Source {
  private static final String EXECUTOR = "sluice";
  private static final String APPLICATION = "sluice.application";

  private final String name;
  private final MetricRegistry registry;
  private final Optional<LatencyMetrics> latency;

  private MetricsSource(String name, MetricRegistry registry, Optional<LatencyMetrics> latency) {
    this.name = name;
    this.registry = registry;
    this.latency = latency;
  }

  private static MetricRegistry registry(Map<String, LongSupplier> values) {
    MetricRegistry registry = new MetricRegistry();
    String version = Platform.version().orElse("unknown");
    registry.register("version", (Gauge<String>) () -> version);
    values.forEach((key, value) -> registry.register(key, (Gauge<Long>) value::getAsLong));
    return registry;
  }

  /** Returns the source of an executor's own counters and READ latencies. */
  public static MetricsSource of(ExecutorMetrics metrics) {
    MetricRegistry registry = registry(metrics.counters());
    return new MetricsSource(
        EXECUTOR,
        registry,
        metrics
            .latencies()
            .map(reads -> new LatencyMetrics(registry, reads.all(), reads.byPeer())));
  }

  /**
   * Returns the source of the driver's sums over all executors.
   *
   * @param latencies returns those of all READs; each read of the histogram calls it
   */
  public static MetricsSource of(
      ApplicationTotals totals, Supplier<LatencySnapshot> latencies, OtherVersions otherVersions) {
    Map<String, LongSupplier> sums = new TreeMap<>();
    sums.put("other-versions", otherVersions::count);
    ExecutorMetrics.descriptions()
        .keySet()
        .forEach(counter -> sums.put(counter, () -> totals.total(counter)));
    MetricRegistry registry = registry(sums);
    registry.register(LatencyMetrics.NAME, new LatencyMetrics.Latency(latencies));
    return new MetricsSource(APPLICATION, registry, Optional.empty());
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
