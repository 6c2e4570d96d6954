// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.rdma.transfer.TransferCounter;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

/**
 * Metrics of each application, for Prometheus and for people. {@link NodePages} asks for them on
 * the thread of each request; no value waits for a disk. Their names are the interface to
 * Prometheus.
 */
enum NodeMetric {
  SHUFFLES("shuffles", "Shuffles with map outputs at this daemon.", ServedApplication::shuffles),
  MAP_OUTPUTS("map_outputs", "Map outputs that executors handed over.", ServedApplication::outputs),
  BYTES("bytes", "Bytes of the map outputs' data files.", ServedApplication::bytes),
  REGISTERED_BYTES(
      "registered_bytes",
      "Bytes of registered memory. Registered open files take none.",
      RegistryCounter.REGISTERED_BYTES),
  REGISTERED_REGIONS(
      "registered_regions", "Memory regions of map outputs.", RegistryCounter.REGISTERED_REGIONS),
  READABLE_MAP_OUTPUTS(
      "readable_map_outputs",
      "Map outputs that can be READ now. Others can be READ after a reader asked for them.",
      RegistryCounter.REGISTERED_OUTPUTS),
  REJECTED_MAP_OUTPUTS(
      "rejected_map_outputs_total",
      "Map outputs whose files are inconsistent or unreadable.",
      RegistryCounter.REJECTIONS),
  STAGED_BYTES(
      "staged_bytes_total",
      "Bytes copied into staging memory for readers.",
      RegistryCounter.STAGED_BYTES),
  STAGING_BYTES_IN_USE(
      "staging_bytes_in_use",
      "Bytes of staging memory in use.",
      RegistryCounter.STAGING_BYTES_IN_USE),
  QUEUE_PAIRS(
      "queue_pairs_total",
      "Queue pairs that readers have connected.",
      a -> a.endpoint().counters().get(TransferCounter.QUEUE_PAIRS_ACCEPTED)),
  AGE(
      "age_seconds",
      "Seconds since the application arrived, or since the daemon started.",
      a -> seconds(a.ageNanos())),
  SILENT(
      "silent_seconds",
      "Seconds since the application's last message.",
      a -> seconds(a.silentNanos()));

  private static final String PREFIX = "sluice_node_application_";

  private final String name;
  private final String documentation;
  private final ToLongFunction<ServedApplication> value;

  NodeMetric(String name, String documentation, ToLongFunction<ServedApplication> value) {
    this.name = name;
    this.documentation = documentation;
    this.value = value;
  }

  NodeMetric(String name, String documentation, RegistryCounter counter) {
    this(name, documentation, application -> application.registryCounters().get(counter));
  }

  private static long seconds(long nanos) {
    return TimeUnit.NANOSECONDS.toSeconds(nanos);
  }

  String prometheusName() {
    return PREFIX + name;
  }

  /** Prometheus names counters with the suffix _total. */
  String prometheusType() {
    return name.endsWith("_total") ? "counter" : "gauge";
  }

  String title() {
    return name.replace("_total", "").replace('_', ' ');
  }

  String documentation() {
    return documentation;
  }

  long of(ServedApplication application) {
    return value.applyAsLong(application);
  }
}
