// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import io.prometheus.metrics.config.EscapingScheme;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A node's metrics for Prometheus: those of the process, and {@link NodeMetric} of each
 * application. {@link NodePages} asks for them on the thread of each request; no value waits for a
 * disk. Holds nothing to close.
 */
final class NodeMetrics {
  /**
   * Metrics of the JVM and the process. Their library keeps each registry that has them for ever.
   */
  private static final PrometheusRegistry PROCESS = new PrometheusRegistry();

  static {
    JvmMetrics.builder().register(PROCESS);
  }

  private static final OpenMetricsTextFormatWriter OPEN_METRICS =
      OpenMetricsTextFormatWriter.create();
  private static final PrometheusTextFormatWriter PROMETHEUS = PrometheusTextFormatWriter.create();

  private static final String PREFIX = "sluice_node_";

  private final Supplier<Collection<ServedApplication>> applications;
  private final BooleanSupplier draining;
  private final IntSupplier unbound;

  /**
   * Metrics in a text format.
   *
   * @param type media type with its parameters
   */
  record Text(String type, byte[] bytes) {}

  /**
   * @param unbound number of addresses that are not bound
   */
  NodeMetrics(
      Supplier<Collection<ServedApplication>> applications,
      BooleanSupplier draining,
      IntSupplier unbound) {
    this.applications = applications;
    this.draining = draining;
    this.unbound = unbound;
  }

  /**
   * Returns all metrics in OpenMetrics' format if the client accepts it, otherwise in Prometheus'.
   *
   * @param accept the request's header; null if it has none
   */
  Text text(@Nullable String accept) {
    ExpositionFormatWriter writer = OPEN_METRICS.accepts(accept) ? OPEN_METRICS : PROMETHEUS;
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    try {
      writer.write(text, collect(), EscapingScheme.fromAcceptHeader(accept));
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Memory has no such failure.
    }
    return new Text(writer.getContentType(), text.toByteArray());
  }

  private MetricSnapshots collect() {
    List<ServedApplication> all = List.copyOf(applications.get());
    MetricSnapshots.Builder metrics = MetricSnapshots.builder();
    PROCESS.scrape().forEach(metrics::metricSnapshot);
    metrics
        .metricSnapshot(build())
        .metricSnapshot(gauge("applications", "Applications that are served.", all.size()))
        .metricSnapshot(
            gauge(
                "draining",
                "1 while no further application is let in, otherwise 0.",
                draining.getAsBoolean() ? 1 : 0))
        .metricSnapshot(
            gauge(
                "unbound_addresses",
                "Addresses that cannot be bound now, such as the port for MapReduce.",
                unbound.getAsInt()));
    for (NodeMetric metric : NodeMetric.values()) {
      metrics.metricSnapshot(metric.isTotal() ? counter(metric, all) : gauge(metric, all));
    }
    return metrics.metricSnapshot(requests(all)).build();
  }

  private static MetricSnapshot build() {
    return InfoSnapshot.builder()
        .name(PREFIX + "build")
        .help("Versions of Sluice and Java.")
        .dataPoint(
            InfoDataPointSnapshot.builder()
                .labels(
                    Labels.of(
                        "java",
                        Runtime.version().toString(),
                        "version",
                        NodeMain.buildVersion().orElse("unknown")))
                .build())
        .build();
  }

  private static MetricSnapshot gauge(String name, String help, long value) {
    return GaugeSnapshot.builder()
        .name(PREFIX + name)
        .help(help)
        .dataPoint(GaugeDataPointSnapshot.builder().value((double) value).build())
        .build();
  }

  private static MetricSnapshot gauge(NodeMetric metric, List<ServedApplication> all) {
    GaugeSnapshot.Builder gauge =
        GaugeSnapshot.builder().name(metric.prometheusName()).help(metric.documentation());
    for (ServedApplication each : all) {
      gauge.dataPoint(
          GaugeDataPointSnapshot.builder()
              .labels(label(each))
              .value((double) metric.of(each))
              .build());
    }
    return gauge.build();
  }

  private static MetricSnapshot counter(NodeMetric metric, List<ServedApplication> all) {
    CounterSnapshot.Builder counter =
        CounterSnapshot.builder().name(metric.prometheusName()).help(metric.documentation());
    for (ServedApplication each : all) {
      counter.dataPoint(
          CounterDataPointSnapshot.builder()
              .labels(label(each))
              .value((double) metric.of(each))
              .build());
    }
    return counter.build();
  }

  private static MetricSnapshot requests(List<ServedApplication> all) {
    HistogramSnapshot.Builder requests =
        HistogramSnapshot.builder()
            .name(PREFIX + "application_request_seconds")
            .help(
                "Time in which readers' requests for locations, copies and queue pairs are answered.");
    for (ServedApplication each : all) {
      requests.dataPoint(each.readers().snapshot(label(each)));
    }
    return requests.build();
  }

  private static Labels label(ServedApplication application) {
    return Labels.of("application", application.name());
  }
}
