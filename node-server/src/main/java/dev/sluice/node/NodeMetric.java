// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.rdma.transfer.TransferCounter;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

/**
 * Metrics of each application, for Prometheus, scripts and people. No value waits for a disk; any
 * thread. Their names are the interface to Prometheus.
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
  REGISTERED_BYTES(
      "registered_bytes",
      Unit.BYTES,
      "Bytes of registered memory. Registered open files take none.",
      RegistryCounter.REGISTERED_BYTES),
  REGISTERED_REGIONS(
      "registered_regions",
      Unit.COUNT,
      "Memory regions of map outputs.",
      RegistryCounter.REGISTERED_REGIONS),
  READABLE_MAP_OUTPUTS(
      "readable_map_outputs",
      Unit.COUNT,
      "Map outputs that can be READ now. Others can be READ after a reader asked for them.",
      RegistryCounter.REGISTERED_OUTPUTS),
  REJECTED_MAP_OUTPUTS(
      "rejected_map_outputs_total",
      Unit.COUNT,
      "Map outputs whose files are inconsistent or unreadable.",
      RegistryCounter.REJECTIONS),
  STAGED_BYTES(
      "staged_bytes_total",
      Unit.BYTES,
      "Bytes copied into staging memory for readers.",
      RegistryCounter.STAGED_BYTES),
  STAGING_BYTES_IN_USE(
      "staging_bytes_in_use",
      Unit.BYTES,
      "Bytes of staging memory in use.",
      RegistryCounter.STAGING_BYTES_IN_USE),
  QUEUE_PAIRS(
      "queue_pairs_total",
      Unit.COUNT,
      "Queue pairs that readers have connected.",
      a -> a.endpoint().counters().get(TransferCounter.QUEUE_PAIRS_ACCEPTED)),
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
  private static final String TOTAL = "_total";

  /** Unit of a metric's values. */
  enum Unit {
    COUNT,
    BYTES,
    SECONDS
  }

  private final String name;
  private final Unit unit;
  private final String documentation;
  private final ToLongFunction<ServedApplication> value;

  NodeMetric(
      String name, Unit unit, String documentation, ToLongFunction<ServedApplication> value) {
    this.name = name;
    this.unit = unit;
    this.documentation = documentation;
    this.value = value;
  }

  NodeMetric(String name, Unit unit, String documentation, RegistryCounter counter) {
    this(name, unit, documentation, application -> application.registryCounters().get(counter));
  }

  private static long seconds(long nanos) {
    return TimeUnit.NANOSECONDS.toSeconds(nanos);
  }

  /** Name without the suffix _total, which Prometheus' library adds to counters. */
  String prometheusName() {
    return PREFIX + key();
  }

  boolean isCounter() {
    return name.endsWith(TOTAL);
  }

  /** Name in JSON. */
  String key() {
    return isCounter() ? name.substring(0, name.length() - TOTAL.length()) : name;
  }

  Unit unit() {
    return unit;
  }

  String title() {
    return key().replace('_', ' ');
  }

  String documentation() {
    return documentation;
  }

  long of(ServedApplication application) {
    return value.applyAsLong(application);
  }
}
