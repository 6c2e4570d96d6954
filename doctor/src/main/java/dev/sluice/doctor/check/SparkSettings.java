// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.conf.ExecutorConf;
import dev.sluice.blocks.conf.SettingTable.Refusal;
import dev.sluice.blocks.conf.SparkUnits;
import dev.sluice.doctor.NodeConflict;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.SortedMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Settings of Spark: of {@code spark-defaults.conf} on a node, or of the application in the Spark
 * job. {@code ThisNode} or {@code ExecutorCheckContext} makes it; immutable.
 *
 * @param place file, options or application in words; empty if no settings are known
 * @param values values by their keys
 */
public record SparkSettings(String place, Map<String, String> values) {
  /** No settings are known, and defaults hold. */
  public static final SparkSettings NONE = new SparkSettings("", Map.of());

  private static final String FILE = "spark-defaults.conf";

  /** Switches that only checks look at. */
  private static final List<String> SWITCHES =
      Stream.concat(EnginesCheck.SWITCHES.stream(), Stream.of(NodeConflict.SPARKS_SERVICE))
          .toList();

  public SparkSettings {
    values = Map.copyOf(values);
  }

  /** Returns the file that spark-submit reads in this environment; empty if there is none. */
  public static Optional<Path> file(Map<String, String> environment) {
    String given = environment.getOrDefault("SPARK_CONF_DIR", "");
    Optional<Path> directory =
        given.isEmpty()
            ? SparkHome.of(environment).map(home -> home.resolve("conf"))
            : Optional.of(Path.of(given));
    return directory.map(folder -> folder.resolve(FILE)).filter(Files::exists);
  }

  /**
   * Reads settings as spark-submit does.
   *
   * @param file file of properties; empty for none
   * @param given settings that override those of the file
   */
  public static SparkSettings read(Optional<Path> file, Map<String, String> given)
      throws IOException {
    if (file.isEmpty() && given.isEmpty()) {
      return NONE;
    }
    Map<String, String> values = new HashMap<>();
    if (file.isPresent()) {
      Properties properties = new Properties();
      try (BufferedReader reader = Files.newBufferedReader(file.get())) {
        properties.load(reader);
      }
      properties
          .stringPropertyNames()
          .forEach(key -> values.put(key, properties.getProperty(key).strip()));
    }
    values.putAll(given);
    return new SparkSettings(place(file, given), values);
  }

  private static String place(Optional<Path> file, Map<String, String> given) {
    return Stream.concat(
            file.map(Path::toString).stream(), given.isEmpty() ? Stream.of() : Stream.of("--conf"))
        .collect(Collectors.joining(" and "));
  }

  /** Returns true if settings are known, so that a key that is not among them is not set. */
  public boolean isKnown() {
    return !place.isEmpty();
  }

  /** Returns the value of a key; empty if it is not set. */
  public Optional<String> get(String key) {
    return Optional.ofNullable(values.get(key));
  }

  /**
   * Returns the value of a switch.
   *
   * @param otherwise its default
   * @throws IllegalArgumentException for a value that is refused
   */
  boolean isOn(String key, boolean otherwise) {
    return values.containsKey(key) ? SparkUnits.isTrue(values::get, key) : otherwise;
  }

  /** Returns the settings that an executor of Sluice or a check refuses, with the reasons. */
  public SortedMap<String, Refusal> refusals() {
    SortedMap<String, Refusal> refusals = ExecutorConf.refusals(values);
    for (String key : SWITCHES) {
      Refusal.of(() -> SparkUnits.isTrue(values::get, key))
          .ifPresent(refused -> refusals.put(key, refused));
    }
    Refusal.of(() -> PortsCheck.retries(this))
        .ifPresent(refused -> refusals.put(PortsCheck.RETRIES, refused));
    return refusals;
  }

  /** Returns the settings without those that are refused. */
  public SparkSettings accepted() {
    Map<String, String> accepted = new HashMap<>(values);
    accepted.keySet().removeAll(refusals().keySet());
    return new SparkSettings(place, accepted);
  }
}
