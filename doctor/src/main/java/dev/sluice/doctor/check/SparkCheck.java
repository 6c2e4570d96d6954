// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Platform;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Check of Spark's and Hadoop's jars, by their names. {@link Checks} makes it, and {@link
 * CheckRunner} asks it once, on a thread of its own.
 *
 * @param java feature release of the JVM
 */
record SparkCheck(List<Path> jars, int java) implements Check {
  private static final Pattern SPARK = Pattern.compile("spark-core_2\\.\\d+-(\\d.*)\\.jar");
  private static final Pattern HADOOP =
      Pattern.compile("hadoop-(?:client-api|common)-(\\d.*)\\.jar");

  /** The release whose Subject refuses calls of older versions of Hadoop (HADOOP-19212). */
  private static final int FIRST_WITHOUT_SUBJECT = 23;

  private static final Runtime.Version FIRST_HADOOP_FOR_IT = Runtime.Version.parse("3.4.3");

  /** The release without the class that Spark looks for at its start (JDK-8361426, SPARK-57877). */
  private static final int FIRST_WITHOUT_CLEANER = 26;

  SparkCheck(List<Path> jars) {
    this(jars, Runtime.version().feature());
  }

  @Override
  public String name() {
    return "spark";
  }

  @Override
  public List<Finding> findings() {
    Optional<String> spark = spark(jars);
    if (spark.isEmpty()) {
      return List.of(
          Finding.ok(
              name(), "not checked, Sluice is for %s: %s".formatted(Platform.sparks(), lack())));
    }
    return Stream.concat(
            Stream.of(spark(spark.get())), version(jars, HADOOP).map(this::hadoop).stream())
        .toList();
  }

  /** Returns why Spark's version is not known. */
  private String lack() {
    return jars.isEmpty()
        ? "SPARK_HOME is not set, or has no jars, and PATH has no spark-submit"
        : "none of %d jars is spark-core_2.13-VERSION.jar".formatted(jars.size());
  }

  private Finding spark(String version) {
    return judged(version).with("version", version);
  }

  private Finding judged(String version) {
    String lack = Platform.lack(java, version);
    if (!lack.isEmpty()) {
      return Finding.fail(name(), lack, "use a release of Sluice for it (docs/spark-versions.md)");
    }
    if (java >= FIRST_WITHOUT_CLEANER) {
      return Finding.warn(
          name(),
          "Spark %s may not start on JDK %d: releases without SPARK-57877 do not"
              .formatted(version, java),
          "use JDK 21 or 25");
    }
    return Finding.ok(name(), "Spark " + version);
  }

  private Finding hadoop(String version) {
    Finding finding =
        java >= FIRST_WITHOUT_SUBJECT && isOld(version)
            ? Finding.fail(
                "hadoop",
                "Hadoop %s does not run on JDK %d (HADOOP-19212)".formatted(version, java),
                "replace jars/hadoop-client-api and -runtime by those of 3.4.3 or newer")
            : Finding.ok("hadoop", "Hadoop " + version);
    return finding.with("version", version);
  }

  /** Returns true if the version is too old. Vendors' versions have more after the third number. */
  private static boolean isOld(String version) {
    Matcher numbers = Pattern.compile("\\d+\\.\\d+\\.\\d+").matcher(version);
    return numbers.lookingAt()
        && Runtime.Version.parse(stripped(numbers.group())).compareTo(FIRST_HADOOP_FOR_IT) < 0;
  }

  /** Removes zeros at the end, which Java's versions do not have. */
  private static String stripped(String version) {
    return version.replaceFirst("(\\.0)+$", "");
  }

  /** Returns the version of Spark, by the name of its core's jar; empty if there is none. */
  static Optional<String> spark(List<Path> jars) {
    return version(jars, SPARK);
  }

  private static Optional<String> version(List<Path> jars, Pattern name) {
    return jars.stream()
        .map(jar -> name.matcher(jar.getFileName().toString()))
        .filter(Matcher::matches)
        .map(matcher -> matcher.group(1))
        .findFirst();
  }
}
