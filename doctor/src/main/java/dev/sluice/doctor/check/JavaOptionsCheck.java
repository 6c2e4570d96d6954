// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.FixLine;
import java.util.List;
import java.util.stream.Stream;

/**
 * Check that JVMs of Spark 4.0 may call native code: Spark's launcher gives the option from 4.1 on.
 * {@link Checks} makes it, and {@link CheckRunner} asks it once, on a thread of its own.
 *
 * @param spark version of Spark; empty if it is not known
 */
record JavaOptionsCheck(String spark, SparkSettings settings) implements Check {
  private static final String OPTION = "--enable-native-access";

  @Override
  public String name() {
    return "native access";
  }

  @Override
  public List<Finding> findings() {
    if (!settings.isKnown() || !spark.startsWith("4.0.")) {
      return List.of();
    }
    return Stream.of("spark.driver.", "spark.executor.")
        .filter(process -> !isSet(process + "defaultJavaOptions"))
        .map(process -> process + "extraJavaOptions")
        .filter(key -> !isSet(key))
        .map(this::missing)
        .toList();
  }

  private boolean isSet(String key) {
    return settings.get(key).orElse("").contains(OPTION);
  }

  private Finding missing(String key) {
    String others = settings.get(key).map(options -> options + " ").orElse("");
    String option = OPTION + "=ALL-UNNAMED";
    return Finding.warn(
            name(),
            "%s lacks %s, which Spark %s does not give by itself: the JDK warns, or refuses verbs"
                .formatted(key, option, spark),
            "add it to " + key)
        .mendedBy(FixLine.setting(key, others + option));
  }
}
