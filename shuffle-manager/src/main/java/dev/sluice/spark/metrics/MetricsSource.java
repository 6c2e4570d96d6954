package dev.sluice.spark.metrics;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import org.apache.spark.metrics.source.Source;

/** The executor's counters as gauges of Spark's metrics system, whose sinks' threads read them. */
public final class MetricsSource implements Source {
  private final MetricRegistry registry = new MetricRegistry();

  public MetricsSource(ExecutorMetrics metrics) {
    metrics
        .counters()
        .forEach((name, value) -> registry.register(name, (Gauge<Long>) value::getAsLong));
  }

  @Override
  public String sourceName() {
    return "sluice";
  }

  @Override
  public MetricRegistry metricRegistry() {
    return registry;
  }
}
