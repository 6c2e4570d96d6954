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
import java.util.regex.Pattern;

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
      Sizes are in Spark's syntax, with a unit: 512m, 32g, 10t.
      Exit status: 0, or 2 with wrong options.
      """;

  /** Bytes that a task usually reads (spark.sql.files.maxPartitionBytes). */
  private static final long TASK_BYTES = 128 << 20;

  /** Least heap with which Spark starts an executor. */
  private static final String LEAST_HEAP = "450m";

  private static final Pattern WITH_UNIT = Pattern.compile(".*[a-zA-Z]");
  private static final Pattern RATE = Pattern.compile("[0-9]{1,5}(?:\\.[0-9]{1,3})?");

  private static final int MOST = 1_000_000;
  private static final int MOST_TASKS = 100_000_000;
  private static final String MOST_SHUFFLE = "1024p";

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
      case "--executor-memory" -> addMemory(ExecutorMemory.HEAP, option, rest, LEAST_HEAP);
      case "--memory-overhead" -> addMemory(ExecutorMemory.OVERHEAD, option, rest, "1m");
      case "--shuffle" -> shuffleBytes = shuffle(option, value(option, rest));
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
    if (maps() > shuffleBytes) {
      throw new IllegalArgumentException(
          "--maps is %d, more than the %d bytes of --shuffle".formatted(maps(), shuffleBytes));
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
    int taskCpus = ExecutorMemory.taskCpus(settings::get);
    if (taskCpus > cores) {
      throw new IllegalArgumentException(
          "--cores is %d, less than the %d of %s"
              .formatted(cores, taskCpus, ExecutorMemory.TASK_CPUS));
    }
    check(Sizing.conf(Sizing.settings(this)));
  }

  /** Refuses a configuration with which executors READ nothing, or take more than they have. */
  private static void check(ExecutorConf conf) {
    String provider = conf.provider();
    if (provider.equals("soft") || provider.equals("off")) {
      throw new IllegalArgumentException(
          "--conf: %s is %s, but sizes are those of verbs"
              .formatted(ExecutorSettings.PROVIDER.key(), provider));
    }
    if (conf.readsForbidden()) {
      throw new IllegalArgumentException(
          "--conf: %s is true, so Spark encrypts its network and no block is READ"
              .formatted(conf.wireEncryption().orElse("")));
    }
    if (conf.offReason().isPresent()) {
      throw new IllegalArgumentException("--conf: no block is READ: " + conf.offReason().get());
    }
    if (conf.isNodeRequired()) {
      throw new IllegalArgumentException(
          "--conf: %s is on, but sizes are those of executors that serve their map outputs"
              .formatted(ExecutorSettings.NODE.key()));
    }
    long taken = conf.budget().lockedBytes();
    if (taken > conf.grant().overheadBytes()) {
      throw new IllegalArgumentException(
          "registration, buffers and staging take %d MiB, more than the overhead of %d MiB: give a"
                  .formatted(taken >> 20, conf.grant().overheadBytes() >> 20)
              + " larger --memory-overhead");
    }
  }

  private void addMemory(String key, String option, Iterator<String> rest, String least) {
    String value = value(option, rest);
    long bytes = size(option, value);
    if (bytes < SparkUnits.bytes(least) || bytes > SparkUnits.bytes(ExecutorMemory.MOST)) {
      throw new IllegalArgumentException(
          "%s is %s, not from %s to %s".formatted(option, value, least, ExecutorMemory.MOST));
    }
    Options.addSetting(settings, key + "=" + value);
  }

  private static long shuffle(String option, String value) {
    long bytes = size(option, value);
    if (bytes < 1 || bytes > SparkUnits.bytes(MOST_SHUFFLE)) {
      throw new IllegalArgumentException(
          "%s is %s, not from 1b to %s".formatted(option, value, MOST_SHUFFLE));
    }
    return bytes;
  }

  /** Returns a size. A number alone would be MiB for one option and bytes for another. */
  private static long size(String option, String value) {
    try {
      if (WITH_UNIT.matcher(value).matches()) {
        return SparkUnits.bytes(value);
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw new IllegalArgumentException(
        "%s is %s, not a size with a unit such as 512m, 32g or 10t".formatted(option, value));
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
    double rate = RATE.matcher(value).matches() ? Double.parseDouble(value) : 0;
    if (rate < 1) {
      throw new IllegalArgumentException(
          "%s is %s, not a rate from 1 to 99999 Gb/s such as 100".formatted(option, value));
    }
    return rate;
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
