package dev.sluice.benchmarks;

import java.nio.file.Path;

/**
 * Where the commands under bin have put what the benchmarks run with.
 *
 * @param sparkJars Spark's jars
 * @param sluiceJar the jar that a user of Sluice drops in
 * @param benchmarksJar this program
 * @param data where inputs are kept and runs write
 */
public record Installation(Path sparkJars, Path sluiceJar, Path benchmarksJar, Path data) {

  /** What bin/lib.sh exports. */
  public static Installation fromEnvironment() {
    return new Installation(
        path("SLUICE_SPARK_JARS"),
        path("SLUICE_JAR"),
        path("SLUICE_BENCHMARKS_JAR"),
        path("SLUICE_DATA"));
  }

  private static Path path(String variable) {
    String value = System.getenv(variable);
    if (value == null || value.isEmpty()) {
      throw new IllegalStateException(variable + " is not set: start this by a command under bin");
    }
    return Path.of(value).toAbsolutePath();
  }
}
