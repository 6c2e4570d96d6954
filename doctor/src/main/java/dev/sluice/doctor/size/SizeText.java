// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.size;

import dev.sluice.blocks.conf.ExecutorMemory;
import dev.sluice.blocks.conf.ExecutorSettings;
import dev.sluice.blocks.conf.SparkUnits;
import dev.sluice.blocks.directory.RegionLimit;
import dev.sluice.doctor.check.Installation;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Text and JSON of a {@link Sizing}. {@link SizeCommand} makes it on the main thread and prints it.
 */
record SizeText(SizeOptions options, Sizing sizing) {
  private static final long MIB = 1L << 20;

  /** Returns a table, and the lines of spark-defaults.conf below it. */
  String text() {
    return head() + memory() + shuffle() + limits() + "\n# spark-defaults.conf\n" + settings();
  }

  private String head() {
    return "Provider verbs, %d executors of %s and %d cores on %d nodes."
            .formatted(
                options.executors(), size(sizing.heapBytes()), options.cores(), options.nodes())
        + " A shuffle of %s: %d map outputs of %d partitions\n"
            .formatted(size(options.shuffleBytes()), options.maps(), options.partitions());
  }

  private String memory() {
    return row(
            "overhead",
            "%s (%s); an executor's container has %s"
                .formatted(
                    size(sizing.overheadBytes()),
                    options.setsOverhead() ? "as given" : "as Spark derives it",
                    size(sizing.containerBytes())))
        + row("registration", size(sizing.budget().registrationBytes()))
        + row("buffers", size(sizing.budget().bufferBytes()) + gathered())
        + row(
            "staging",
            "%s; %s keep %s Gb/s busy"
                .formatted(
                    size(sizing.budget().stagingBytes()),
                    size(sizing.stagingEnoughBytes()),
                    link()));
  }

  private String gathered() {
    return sizing.taskBufferBytes() == 0
        ? ""
        : ", of which each of %d tasks gathers blocks in %s"
            .formatted(sizing.tasks(), size(sizing.taskBufferBytes()));
  }

  private String shuffle() {
    return row(
            "map outputs",
            "%s of an executor: %d of %s; registering all takes %s"
                .formatted(
                    size(sizing.dataBytes()),
                    sizing.outputs().count(),
                    size(sizing.outputs().bytes()),
                    size(sizing.all().cost().bytes())))
        + row("registered", part(sizing.registeredBytes(), sizing.registeredShare()))
        + row("staged", part(sizing.stagedBytes(), 1 - sizing.registeredShare()))
        + row(
            "network",
            "%s s at least, at %s Gb/s".formatted(decimal(sizing.networkSeconds()), link()));
  }

  private String limits() {
    String mappings =
        sizing.all().cost().regions() > RegionLimit.MAPPINGS.byDefault()
            ? row(
                "mappings",
                "vm.max_map_count=%d registers all of them; the kernel's default is %d"
                    .formatted(
                        RegionLimit.MAPPINGS.kernelsFor(sizing.all().cost().regions()),
                        RegionLimit.MAPPINGS.otherwise()))
            : "";
    return row(
            "memlock",
            "%s: LimitMEMLOCK=%d or infinity"
                .formatted(size(sizing.lockedBytes()), sizing.lockedBytes()))
        + row(
            "queue pairs",
            "%d of an executor, %d of a node, %d of an adapter; with node daemons %d of a node"
                .formatted(
                    sizing.pairs().executor(),
                    sizing.pairs().node(),
                    sizing.pairs().adapter(),
                    sizing.pairs().nodeWithDaemons()))
        + mappings;
  }

  private String settings() {
    StringBuilder text = new StringBuilder();
    defaults().forEach((key, value) -> text.append(setting(key, value)));
    if (sizing.pairs().peers() > sizing.pairs().limit()) {
      text.append(
          "# An executor has %d peers elsewhere, and closes idle queue pairs for new ones\n"
              .formatted(sizing.pairs().peers()));
    }
    return text + largerOverhead();
  }

  /** Returns the line of a larger overhead as a comment; empty if this one is enough. */
  private String largerOverhead() {
    boolean isStaged = sizing.stagedBytes() > 0;
    boolean isSlow = sizing.budget().stagingBytes() < sizing.stagingEnoughBytes();
    boolean decides =
        !Sizing.settings(options).containsKey(ExecutorSettings.REGISTRATION_MAX_BYTES.key());
    if (!decides || !isStaged && !isSlow) {
      return "";
    }
    if (sizing.overheadForAllBytes() > SparkUnits.bytes(ExecutorMemory.MOST)) {
      return "# No overhead registers all map outputs: give the shuffle more executors\n";
    }
    return "# This overhead %s; the container then has %s\n# "
            .formatted(
                isStaged ? "registers all map outputs" : "has enough staging memory",
                size(sizing.containerForAllBytes()))
        + setting(ExecutorMemory.OVERHEAD, sizing.overheadForAllBytes() / MIB + "m");
  }

  private static String setting(String key, String value) {
    return "%-42s %s\n".formatted(key, value);
  }

  private static String row(String name, String value) {
    return "%-13s %s\n".formatted(name, value);
  }

  private static String part(long bytes, double share) {
    return "%s (%s %%)".formatted(size(bytes), decimal(100 * share));
  }

  private String link() {
    double gigabits = options.linkGigabits();
    return gigabits == Math.rint(gigabits)
        ? Long.toString((long) gigabits)
        : Double.toString(gigabits);
  }

  /** Returns bytes with a unit, with four digits at most. */
  private static String size(long bytes) {
    String[] units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double) bytes;
    int unit = 0;
    while (value >= 1000 && unit < units.length - 1) {
      value /= 1024;
      unit++;
    }
    boolean isWhole = unit == 0 || value >= 100 || value == Math.rint(value);
    return (isWhole ? Long.toString(Math.round(value)) : decimal(value)) + " " + units[unit];
  }

  private static String decimal(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  /** Returns the settings of the executors, which spark-defaults.conf has to have. */
  private Map<String, String> defaults() {
    Map<String, String> defaults = new LinkedHashMap<>();
    defaults.put(Installation.JARS, Installation.path(Installation.ownJar()));
    defaults.put(Installation.MANAGER, Installation.OURS);
    defaults.put(SizeOptions.INSTANCES, Integer.toString(options.executors()));
    defaults.put(SizeOptions.CORES, Integer.toString(options.cores()));
    new TreeMap<>(Sizing.settings(options)).forEach(defaults::putIfAbsent);
    return defaults;
  }

  /** Returns one object; names of numbers end with their units. */
  Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("executors", options.executors());
    fields.put("nodes", options.nodes());
    fields.put("adapters", options.adapters());
    fields.put("cores", options.cores());
    fields.put("shuffle_bytes", options.shuffleBytes());
    fields.put("maps", options.maps());
    fields.put("partitions", options.partitions());
    fields.put("heap_bytes", sizing.heapBytes());
    fields.put("overhead_bytes", sizing.overheadBytes());
    fields.put("container_bytes", sizing.containerBytes());
    fields.put("registration_bytes", sizing.budget().registrationBytes());
    fields.put("buffer_bytes", sizing.budget().bufferBytes());
    fields.put("tasks", sizing.tasks());
    fields.put("task_buffer_bytes", sizing.taskBufferBytes());
    fields.put("staging_bytes", sizing.budget().stagingBytes());
    fields.put("staging_enough_bytes", sizing.stagingEnoughBytes());
    fields.put("map_outputs", sizing.outputs().count());
    fields.put("map_output_bytes", sizing.dataBytes());
    fields.put("registered_map_outputs", sizing.registered().outputs());
    fields.put("registered_bytes", sizing.registeredBytes());
    fields.put("staged_bytes", sizing.stagedBytes());
    fields.put("registered_share", sizing.registeredShare());
    fields.put("registration_for_all_bytes", sizing.all().cost().bytes());
    fields.put("overhead_for_all_bytes", sizing.overheadForAllBytes());
    fields.put("memlock_bytes", sizing.lockedBytes());
    fields.put("queue_pairs_per_executor", sizing.pairs().executor());
    fields.put("queue_pairs_per_node", sizing.pairs().node());
    fields.put("queue_pairs_per_adapter", sizing.pairs().adapter());
    fields.put("queue_pairs_per_node_with_daemons", sizing.pairs().nodeWithDaemons());
    fields.put("mappings", sizing.all().cost().regions());
    fields.put("network_seconds", sizing.networkSeconds());
    fields.put("spark_defaults", defaults());
    return fields;
  }
}
