// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.rdma.transfer.CounterDescription;
import dev.sluice.rdma.transfer.TransferCounter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

/**
 * Metrics of each application, for Prometheus, scripts and people. Counters that executors have as
 * well keep their names and meanings. No value waits for a disk; any thread. The names are the
 * interface to Prometheus.
 */
enum NodeMetric {
  SHUFFLES(
      "shuffles",
      Unit.COUNT,
      "Shuffles with map outputs at this daemon.",
      ServedApplication::shuffles),
  MAP_OUTPUTS(
      "map_outputs",
      Unit.COUNT,
      "Map outputs that executors handed over.",
      ServedApplication::outputs),
  BYTES("bytes", Unit.BYTES, "Bytes of the map outputs' data files.", ServedApplication::bytes),
  REGISTERED_BYTES(RegistryCounter.REGISTERED_BYTES),
  REGISTERED_REGIONS(RegistryCounter.REGISTERED_REGIONS),
  REGISTERED_OUTPUTS(RegistryCounter.REGISTERED_OUTPUTS),
  REJECTIONS(RegistryCounter.REJECTIONS),
  STAGED_BYTES(RegistryCounter.STAGED_BYTES),
  STAGING_BYTES_IN_USE(RegistryCounter.STAGING_BYTES_IN_USE),
  QUEUE_PAIRS_SERVING(TransferCounter.QUEUE_PAIRS_SERVING),
  QUEUE_PAIRS_ACCEPTED(TransferCounter.QUEUE_PAIRS_ACCEPTED),
  AGE(
      "age_seconds",
      Unit.SECONDS,
      "Seconds since the application arrived, or since the daemon started.",
      a -> seconds(a.ageNanos())),
  SILENT(
      "silent_seconds",
      Unit.SECONDS,
      "Seconds since the application's last message.",
      a -> seconds(a.silentNanos()));

  private static final String PREFIX = "sluice_node_application_";

  /** Unit of a metric's values. */
  enum Unit {
    COUNT,
    BYTES,
    SECONDS
  }

  private final String key;
  private final Unit unit;
  private final boolean isTotal;
  private final String documentation;
  private final ToLongFunction<ServedApplication> value;

  NodeMetric(
      String key,
      Unit unit,
      boolean isTotal,
      String documentation,
      ToLongFunction<ServedApplication> value) {
    this.key = key;
    this.unit = unit;
    this.isTotal = isTotal;
    this.documentation = documentation;
    this.value = value;
  }

  NodeMetric(String key, Unit unit, String documentation, ToLongFunction<ServedApplication> value) {
    this(key, unit, false, documentation, value);
  }

  NodeMetric(RegistryCounter counter) {
    this(counter.metric(), counter.description(), a -> a.registryCounters().get(counter));
  }

  NodeMetric(TransferCounter counter) {
    this(counter.metric(), counter.description(), a -> a.endpoint().counters().get(counter));
  }

  NodeMetric(String metric, CounterDescription counter, ToLongFunction<ServedApplication> value) {
    this(
        metric.replaceAll("[.-]", "_"),
        counter.unit().equals("bytes") ? Unit.BYTES : Unit.COUNT,
        !counter.isLevel(),
        counter.meaning(),
        value);
  }

  private static long seconds(long nanos) {
    return TimeUnit.NANOSECONDS.toSeconds(nanos);
  }

  /** Name without the suffix _total, which Prometheus' library adds to totals. */
  String prometheusName() {
    return PREFIX + key;
  }

  boolean isTotal() {
    return isTotal;
  }

  /** Name in JSON. */
  String key() {
    return key;
  }

  Unit unit() {
    return unit;
  }

  String title() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  String documentation() {
    return documentation;
  }

  long of(ServedApplication application) {
    return value.applyAsLong(application);
  }
}
