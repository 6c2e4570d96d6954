// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import static java.util.function.Predicate.not;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Folder of Spark on this node: {@code SPARK_HOME}, else that of the {@code spark-submit} in {@code
 * PATH}. {@code ThisNode} and {@link SparkSettings} ask for it, on any thread.
 */
public final class SparkHome {
  private SparkHome() {}

  /** Returns the folder; empty if there is none. */
  public static Optional<Path> of(Map<String, String> environment) {
    String home = environment.getOrDefault("SPARK_HOME", "");
    return home.isEmpty() ? ofSubmit(environment) : Optional.of(Path.of(home));
  }

  private static Optional<Path> ofSubmit(Map<String, String> environment) {
    return Stream.of(environment.getOrDefault("PATH", "").split(":"))
        .filter(not(String::isEmpty))
        .map(folder -> Path.of(folder, "spark-submit"))
        .filter(Files::isExecutable)
        .findFirst()
        .flatMap(SparkHome::homeOf);
  }

  /** Returns the folder above bin if it has Spark's jars: a wrapper may lie elsewhere. */
  private static Optional<Path> homeOf(Path submit) {
    try {
      Path home = submit.toRealPath().resolve("../..").normalize();
      return Files.isDirectory(home.resolve("jars")) ? Optional.of(home) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
