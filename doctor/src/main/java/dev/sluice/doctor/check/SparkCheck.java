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

/** Check of Spark's and Hadoop's jars, by their names. */
record SparkCheck(List<Path> jars) implements Check {
  private static final Pattern SPARK = Pattern.compile("spark-core_2\\.13-(\\d.*)\\.jar");
  private static final Pattern HADOOP =
      Pattern.compile("hadoop-(?:client-api|common)-(\\d.*)\\.jar");

  /** First version whose classes do without functions that JDK 24 has removed (HADOOP-19212). */
  private static final Runtime.Version HADOOP_FOR_JDK_25 = Runtime.Version.parse("3.4.3");

  @Override
  public String name() {
    return "spark";
  }

  @Override
  public List<Finding> findings() {
    Optional<String> spark = version(SPARK);
    if (spark.isEmpty()) {
      return List.of(Finding.ok(name(), "not checked: " + lack()));
    }
    return Stream.concat(
            Stream.of(spark(spark.get())), version(HADOOP).map(SparkCheck::hadoop).stream())
        .toList();
  }

  /** Returns why Spark's version is not known. */
  private String lack() {
    return jars.isEmpty()
        ? "SPARK_HOME is not set, or has no jars"
        : "none of %d jars is spark-core_2.13-VERSION.jar".formatted(jars.size());
  }

  private Finding spark(String version) {
    String lack = Platform.lack(Runtime.version().feature(), version);
    Finding finding =
        lack.isEmpty()
            ? Finding.ok(name(), "Spark " + version)
            : Finding.fail(name(), lack, "use a release of Sluice for it (docs/spark-versions.md)");
    return finding.with("version", version);
  }

  private static Finding hadoop(String version) {
    Finding finding =
        isOld(version)
            ? Finding.fail(
                "hadoop",
                "Hadoop " + version + " does not run on JDK 25 (HADOOP-19212)",
                "replace jars/hadoop-client-api and -runtime by those of 3.4.3 or newer")
            : Finding.ok("hadoop", "Hadoop " + version);
    return finding.with("version", version);
  }

  /** Returns true if the version is too old. Vendors' versions have more after the third number. */
  private static boolean isOld(String version) {
    Matcher numbers = Pattern.compile("\\d+\\.\\d+\\.\\d+").matcher(version);
    return numbers.lookingAt()
        && Runtime.Version.parse(stripped(numbers.group())).compareTo(HADOOP_FOR_JDK_25) < 0;
  }

  /** Removes zeros at the end, which Java's versions do not have. */
  private static String stripped(String version) {
    return version.replaceFirst("(\\.0)+$", "");
  }

  private Optional<String> version(Pattern name) {
    return jars.stream()
        .map(jar -> name.matcher(jar.getFileName().toString()))
        .filter(Matcher::matches)
        .map(matcher -> matcher.group(1))
        .findFirst();
  }
}
