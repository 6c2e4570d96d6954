// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.FixLine;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Check that applications which the settings give Sluice's shuffle manager find its jar, and one
 * version of it. {@link Checks} makes it, and {@link CheckRunner} asks it once, on a thread of its
 * own.
 *
 * @param jars Spark's jars
 * @param own the jar that this doctor runs from
 */
record JarCheck(List<Path> jars, SparkSettings settings, Path own) implements Check {
  private static final String NAME_START = "sluice-spark-";
  private static final String JARS = "spark.jars";

  /** Keys whose values name jars of an application. */
  private static final List<String> PLACES =
      List.of(JARS, "spark.jars.packages", "spark.executor.extraClassPath", "spark.yarn.dist.jars");

  /** Keys whose values name files with Spark's jars, which may have ours among them. */
  private static final List<String> ARCHIVES =
      List.of("spark.yarn.archive", "spark.yarn.jars", "spark.kubernetes.container.image");

  @Override
  public String name() {
    return "jar";
  }

  @Override
  public List<Finding> findings() {
    List<String> installed =
        jars.stream()
            .map(jar -> jar.getFileName().toString())
            .filter(jar -> jar.startsWith(NAME_START))
            .sorted()
            .toList();
    if (installed.size() > 1) {
      return List.of(
          Finding.fail(
                  name(),
                  "several versions are among Spark's jars: " + String.join(", ", installed),
                  "remove all but one from SPARK_HOME/jars")
              .with("jars", installed));
    }
    if (!settings.get(ManagerCheck.KEY).orElse("").equals(ManagerCheck.OURS)) {
      return List.of();
    }
    return List.of(
        Stream.concat(installed.stream(), named().stream())
            .findFirst()
            .map(place -> Finding.ok(name(), "Sluice's jar comes from " + place))
            .orElseGet(this::missing));
  }

  /** Returns the first setting that names a jar of Sluice, or a place that may have one. */
  private Optional<String> named() {
    return Stream.concat(
            PLACES.stream()
                .filter(key -> settings.get(key).filter(JarCheck::mayNameIt).isPresent()),
            ARCHIVES.stream().filter(key -> settings.get(key).isPresent()))
        .map(key -> key + "=" + settings.values().get(key))
        .findFirst();
  }

  private static boolean mayNameIt(String value) {
    return value.contains(NAME_START) || value.endsWith("*");
  }

  private Finding missing() {
    String others = settings.get(JARS).map(jars -> jars + ",").orElse("");
    return Finding.warn(
            name(),
            "%s names Sluice's shuffle manager, but neither %s nor Spark's jars have its jar"
                .formatted(settings.place(), String.join(", ", PLACES)),
            "give the jar to spark-submit by --jars, or set " + JARS)
        .mendedBy(FixLine.setting(JARS, others + own));
  }
}
