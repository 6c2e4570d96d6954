// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.other;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** A Java 17 of this machine; tests that need one are skipped where there is none. */
public final class Java17 {
  private static final Path JVMS = Path.of("/usr/lib/jvm");

  private Java17() {}

  /** Its JAVA_HOME. */
  public static Path home() throws IOException {
    try (Stream<Path> jvms = Files.isDirectory(JVMS) ? Files.list(JVMS) : Stream.empty()) {
      Path found =
          jvms.filter(jvm -> jvm.getFileName().toString().matches("(java|jdk|temurin)-17.*"))
              .filter(jvm -> Files.isExecutable(jvm.resolve("bin/java")))
              .findFirst()
              .orElse(null);
      assumeTrue(found != null, "no Java 17 below " + JVMS);
      return found;
    }
  }

  static Path command() throws IOException {
    return home().resolve("bin/java");
  }
}
