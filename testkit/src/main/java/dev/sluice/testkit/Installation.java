// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.nio.file.Path;

/**
 * Files that the commands under bin have prepared for a program of a module. {@code bin/lib.sh}
 * exports their places, which drivers inherit; each user reads them anew.
 *
 * @param sparkJars directory of Spark's jars
 * @param sluiceJar the jar that a user of Sluice drops in
 * @param nodeJar jar of the node daemon, which needs the classes of sluiceJar
 * @param programJar jar of the module, which contains the testkit
 * @param data directory of inputs and of the output of runs
 */
public record Installation(
    Path sparkJars, Path sluiceJar, Path nodeJar, Path programJar, Path data) {

  /** Reads the environment variables that bin/lib.sh exports. */
  public static Installation fromEnvironment() {
    return new Installation(
        path("SLUICE_SPARK_JARS"),
        path("SLUICE_JAR"),
        path("SLUICE_NODE_JAR"),
        path("SLUICE_PROGRAM_JAR"),
        path("SLUICE_DATA"));
  }

  private static Path path(String variable) {
    String value = System.getenv(variable);
    if (value == null || value.isEmpty()) {
      throw new IllegalStateException(variable + " is not set; start this by a command in bin");
    }
    return Path.of(value).toAbsolutePath();
  }
}
