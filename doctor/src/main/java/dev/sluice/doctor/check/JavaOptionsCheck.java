// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.FixLine;
import java.util.List;
import java.util.stream.Stream;

/**
 * Check of options that a version of Spark needs and its launcher does not give. {@link Checks}
 * makes it, and {@link CheckRunner} asks it once, on a thread of its own.
 *
 * @param spark version of Spark; empty if it is not known
 * @param java feature release of the JVM
 */
record JavaOptionsCheck(String spark, int java, SparkSettings settings) implements Check {
  /**
   * An option.
   *
   * @param name name of its finding
   * @param spark beginning of the versions of Spark that need it
   * @param java first feature release of the JVM that needs it
   * @param key what the settings must contain
   * @param without what happens without it
   */
  private record Need(
      String name, String spark, int java, String key, String value, String without) {}

  private static final List<Need> NEEDS =
      List.of(
          // Spark's launcher gives it from 4.1 on.
          new Need(
              "native access",
              "4.0.",
              21,
              "--enable-native-access",
              "=ALL-UNNAMED",
              "the JDK warns, or refuses verbs"),
          // Netty 4.2 does without Unsafe there (arrow-java issue 728). The launcher gives the
          // option
          // from Spark 4.2 on, and Spark 4.0 has an older Netty.
          new Need(
              "arrow",
              "4.1.",
              24,
              "--sun-misc-unsafe-memory-access",
              "=allow",
              "Arrow fails, and with it Spark Connect and Python functions on Arrow"));

  @Override
  public String name() {
    return "java options";
  }

  @Override
  public List<Finding> findings() {
    if (!settings.isKnown()) {
      return List.of();
    }
    return NEEDS.stream()
        .filter(need -> spark.startsWith(need.spark) && java >= need.java)
        .flatMap(this::missing)
        .toList();
  }

  private Stream<Finding> missing(Need need) {
    return Stream.of("spark.driver.", "spark.executor.")
        .filter(process -> !isSet(process + "defaultJavaOptions", need))
        .map(process -> process + "extraJavaOptions")
        .filter(key -> !isSet(key, need))
        .map(key -> missing(key, need));
  }

  private boolean isSet(String key, Need need) {
    return settings.get(key).orElse("").contains(need.key);
  }

  private Finding missing(String key, Need need) {
    String others = settings.get(key).map(options -> options + " ").orElse("");
    String option = need.key + need.value;
    return Finding.warn(
            need.name,
            "%s lacks %s, which Spark %s does not give by itself: %s"
                .formatted(key, option, spark, need.without),
            "add it to " + key)
        .mendedBy(FixLine.setting(key, others + option));
  }
}
