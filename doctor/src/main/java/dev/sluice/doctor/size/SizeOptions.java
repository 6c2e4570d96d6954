// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.size;

import dev.sluice.blocks.conf.ExecutorConf;
import dev.sluice.blocks.conf.ExecutorMemory;
import dev.sluice.blocks.conf.ExecutorSettings;
import dev.sluice.blocks.conf.SettingTable.Refusal;
import dev.sluice.blocks.conf.SparkUnits;
import dev.sluice.blocks.registry.MapOutputIndex;
import dev.sluice.doctor.Options;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Options of {@code doctor size} on a command line. {@link SizeCommand} parses them on the main
 * thread. A new option belongs in {@link #parse} and in {@link #HELP}.
 */
final class SizeOptions {
  static final String HELP =
      """
      java -jar <this jar> doctor size [option...]
        --executor-memory SIZE   heap of an executor, such as 32g
        --executors N            number of executors
        --shuffle SIZE           bytes of all map outputs that are read at a time, such as 10t
        --cores N                cores of an executor (1)
        --link GBITS             rate of an adapter in Gb/s (100)
        --memory-overhead SIZE   memory overhead of an executor (as Spark derives it)
        --nodes N                nodes of the executors (one for each executor)
        --adapters N             adapters of a node over which its executors spread (1)
        --maps N                 map tasks of the shuffle (one for each 128 MiB)
        --partitions N           reduce tasks of the shuffle (one for each 128 MiB)
        --conf KEY=VALUE         setting of Spark, as for spark-submit; may be repeated
        --json                   print one object
      Sizes are in Spark's syntax: 512m, 32g, 10t. Without a unit, memory is in MiB, a shuffle in bytes.
      Exit status: 0, or 2 with wrong options.
      """;

  /** Bytes that a task usually reads (spark.sql.files.maxPartitionBytes). */
  private static final long TASK_BYTES = 128 << 20;

  private static final int MOST = 1_000_000;
  private static final int MOST_TASKS = 100_000_000;
  private static final long MOST_BYTES = 1L << 60;

  static final String INSTANCES = "spark.executor.instances";
  static final String CORES = "spark.executor.cores";

  /** Keys of Spark that have options here. */
  private static final Map<String, String> BY_OPTION =
      Map.of(INSTANCES, "--executors", CORES, "--cores");

  private static final List<String> REQUIRED =
      List.of("--executor-memory", "--executors", "--shuffle");

  private final Map<String, String> settings = new LinkedHashMap<>();
  private long shuffleBytes;
  private int executors;
  private Optional<Integer> nodes = Optional.empty();
  private Optional<Integer> maps = Optional.empty();
  private Optional<Integer> partitions = Optional.empty();
  private int cores = 1;
  private int adapters = 1;
  private double linkGigabits = 100;
  private boolean json;
  private boolean help;

  private SizeOptions() {}

  /**
   * @throws IllegalArgumentException for an unknown option, one that is given twice or without its
   *     value, one that is missing, and a value that is not allowed
   */
  static SizeOptions parse(List<String> arguments) {
    SizeOptions options = new SizeOptions();
    Set<String> given = new TreeSet<>();
    for (Iterator<String> rest = arguments.iterator(); rest.hasNext(); ) {
      String option = rest.next();
      if (!given.add(option) && !option.equals("--conf")) {
        throw new IllegalArgumentException(option + " is given twice");
      }
      options.set(option, rest);
    }
    if (!options.help) {
      options.check(given);
    }
    return options;
  }

  private void set(String option, Iterator<String> rest) {
    switch (option) {
      case "--executor-memory" -> addMemory(ExecutorMemory.HEAP, option, rest);
      case "--memory-overhead" -> addMemory(ExecutorMemory.OVERHEAD, option, rest);
      case "--shuffle" -> shuffleBytes = size(option, value(option, rest));
      case "--executors" -> executors = number(option, rest, MOST);
      case "--cores" -> cores = number(option, rest, 4096);
      case "--nodes" -> nodes = Optional.of(number(option, rest, MOST));
      case "--adapters" -> adapters = number(option, rest, 64);
      case "--maps" -> maps = Optional.of(number(option, rest, MOST_TASKS));
      case "--partitions" ->
          partitions = Optional.of(number(option, rest, MapOutputIndex.MAX_PARTITIONS));
      case "--link" -> linkGigabits = rate(option, value(option, rest));
      case "--conf" -> Options.addSetting(settings, value(option, rest));
      case "--json" -> json = true;
      case "--help", "-h" -> help = true;
      default -> throw new IllegalArgumentException("there is no option " + option);
    }
  }

  private void check(Set<String> given) {
    for (String option : REQUIRED) {
      if (!given.contains(option)) {
        throw new IllegalArgumentException(option + " is missing");
      }
    }
    if (nodes() > executors) {
      throw new IllegalArgumentException(
          "--nodes is %d, more than the %d of --executors".formatted(nodes(), executors));
    }
    Optional<Refusal> refusal = ExecutorConf.refusals(settings).values().stream().findFirst();
    if (refusal.isPresent()) {
      throw new IllegalArgumentException("--conf: " + refusal.get().reason());
    }
    BY_OPTION.forEach(
        (key, option) -> {
          if (settings.containsKey(key)) {
            throw new IllegalArgumentException("--conf sets " + key + ": give it by " + option);
          }
        });
    String provider = settings.getOrDefault(ExecutorSettings.PROVIDER.key(), "");
    if (provider.equals("soft") || provider.equals("off")) {
      throw new IllegalArgumentException(
          "--conf: %s is %s, but sizes are those of verbs"
              .formatted(ExecutorSettings.PROVIDER.key(), provider));
    }
  }

  private void addMemory(String key, String option, Iterator<String> rest) {
    String value = value(option, rest);
    try {
      if (SparkUnits.wholeMebibytes(value) > 0) {
        Options.addSetting(settings, key + "=" + value);
        return;
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw notASize(option, value);
  }

  private static long size(String option, String value) {
    try {
      long bytes = SparkUnits.bytes(value);
      if (bytes > 0 && bytes <= MOST_BYTES) {
        return bytes;
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw notASize(option, value);
  }

  private static IllegalArgumentException notASize(String option, String value) {
    return new IllegalArgumentException(
        "%s is %s, not a size such as 512m, 32g or 10t".formatted(option, value));
  }

  private static int number(String option, Iterator<String> rest, int most) {
    String value = value(option, rest);
    try {
      int number = Integer.parseInt(value);
      if (number >= 1 && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw new IllegalArgumentException(
        "%s is %s, not a number from 1 to %d".formatted(option, value, most));
  }

  private static double rate(String option, String value) {
    try {
      double rate = Double.parseDouble(value);
      if (rate > 0 && rate <= 100_000) {
        return rate;
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw new IllegalArgumentException(
        "%s is %s, not a rate in Gb/s such as 100".formatted(option, value));
  }

  private static String value(String option, Iterator<String> rest) {
    if (!rest.hasNext()) {
      throw new IllegalArgumentException(option + " needs a value");
    }
    return rest.next();
  }

  /** Returns settings of an executor, those of its memory included. */
  Map<String, String> settings() {
    return new HashMap<>(settings);
  }

  /** Returns true if the user sets the memory overhead. */
  boolean setsOverhead() {
    return settings.containsKey(ExecutorMemory.OVERHEAD);
  }

  long shuffleBytes() {
    return shuffleBytes;
  }

  int executors() {
    return executors;
  }

  int cores() {
    return cores;
  }

  int nodes() {
    return nodes.orElse(executors);
  }

  int adapters() {
    return adapters;
  }

  int maps() {
    return maps.orElseGet(this::tasks);
  }

  int partitions() {
    return Math.min(MapOutputIndex.MAX_PARTITIONS, partitions.orElseGet(this::tasks));
  }

  private int tasks() {
    return (int) Math.min(MOST_TASKS, (shuffleBytes - 1) / TASK_BYTES + 1);
  }

  double linkGigabits() {
    return linkGigabits;
  }

  boolean json() {
    return json;
  }

  boolean help() {
    return help;
  }
}
