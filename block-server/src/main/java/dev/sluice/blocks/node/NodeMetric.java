package dev.sluice.blocks.node;

import dev.sluice.blocks.RegistryCounter;
import dev.sluice.rdma.transfer.TransferCounter;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

/**
 * Metrics of each application, for Prometheus and for people. {@link NodePages} asks for them.
 * Their names are the interface to Prometheus.
 */
enum NodeMetric {
  SHUFFLES("shuffles", "Shuffles of which there are map outputs.", a -> a.held().shuffles()),
  MAP_OUTPUTS("map_outputs", "Map outputs that were handed over.", a -> a.held().outputs()),
  BYTES("bytes", "Bytes of their data files.", a -> a.held().bytes()),
  REGISTERED_BYTES(
      "registered_bytes",
      "Bytes of registered memory; open files take none.",
      RegistryCounter.REGISTERED_BYTES),
  REGISTERED_REGIONS(
      "registered_regions", "Memory regions of map outputs.", RegistryCounter.REGISTERED_REGIONS),
  READABLE_MAP_OUTPUTS(
      "readable_map_outputs",
      "Map outputs that can be READ now; others once a reader asks for them.",
      RegistryCounter.REGISTERED_OUTPUTS),
  REJECTED_MAP_OUTPUTS(
      "rejected_map_outputs_total",
      "Map outputs whose files do not fit together or cannot be read.",
      RegistryCounter.REJECTIONS),
  STAGED_BYTES(
      "staged_bytes_total",
      "Bytes copied into registered memory for readers.",
      RegistryCounter.STAGED_BYTES),
  STAGING_BYTES_IN_USE(
      "staging_bytes_in_use", "Of that memory, in use.", RegistryCounter.STAGING_BYTES_IN_USE),
  QUEUE_PAIRS(
      "queue_pairs_total",
      "Queue pairs that readers were given.",
      a -> a.endpoint().counters().get(TransferCounter.QUEUE_PAIRS_ACCEPTED)),
  AGE(
      "age_seconds",
      "Since the application came, or the daemon was started.",
      a -> seconds(a.ageNanos())),
  SILENT("silent_seconds", "Since the last sign of it.", a -> seconds(a.silentNanos()));

  private static final String PREFIX = "sluice_node_application_";

  private final String name;
  private final String documentation;
  private final ToLongFunction<NodeApplication> value;

  NodeMetric(String name, String documentation, ToLongFunction<NodeApplication> value) {
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

  long of(NodeApplication application) {
    return value.applyAsLong(application);
  }
}
